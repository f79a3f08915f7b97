// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim/internal/marquardt"
)

// LBFGSB is LBFGS with bounds: a generalised Cauchy point along the projected
// gradient, a minimum over the parameters that are free there, and a strong
// Wolfe step towards it (Byrd, Lu, Nocedal & Zhu, doi:10.1137/0916069; projection
// of the subspace step after Morales & Nocedal, doi:10.1145/2049662.2049669).
type LBFGSB struct {
	// Memory is the number of stored pairs of a step and a change of the gradient. Default 10.
	Memory int
}

func (LBFGSB) name() string { return "lbfgsb" }

// boxed is LBFGSB in progress. The matrix of second derivatives is modelled as
// theta I - W M W^T with W = [Y, theta S].
type boxed struct {
	*search
	theta float64
	// w holds the columns of W.
	w [][]float64
	// m is M, nil without memory.
	m      *mat.Dense
	cauchy []float64
	// c is W^T (cauchy - x).
	c      []float64
	free   []int
	target []float64
}

func (a LBFGSB) minimise(w *search) (Status, error) {
	if w.lower == nil {
		w.lower, w.upper = repeated(math.Inf(-1), w.n), repeated(math.Inf(1), w.n)
	}
	memory := orMemory(a.Memory)
	b := &boxed{search: w, cauchy: make([]float64, w.n), target: make([]float64, w.n)}
	dir, x, g := make([]float64, w.n), make([]float64, w.n), make([]float64, w.n)
	s := &w.state
	if w.projected() <= w.s.GTol {
		return GradientSmall, nil
	}
	for {
		if !b.model() {
			s.S, s.Y = nil, nil
			continue
		}
		b.findCauchy()
		b.minimiseFree()
		most := math.Inf(1)
		for i, v := range b.target {
			dir[i] = v - s.X[i]
			if !math.IsInf(w.lower[i], -1) || !math.IsInf(w.upper[i], 1) {
				most = 1
			}
		}
		if len(s.S) == 0 { // the model knows no length yet: leave the search some room
			most = b.room(dir)
		}
		first := 1.0
		if len(s.S) == 0 {
			first = min(most, 1/linalg.Norm(dir))
		}
		slope := linalg.Dot(dir, s.Grad)
		var value float64
		ok := slope < 0
		if ok {
			var err error
			value, ok, err = w.line(wolfe{decrease: 1e-3, curvature: 0.9, width: 0.1, most: min(most, 1e10)}, dir, first, x, g)
			if err != nil {
				return w.stopped(), err
			}
		}
		if !ok {
			if len(s.S) == 0 {
				return Stuck, nil
			}
			s.S, s.Y = nil, nil
			continue
		}
		remember(s, memory, x, g)
		if end, err := w.move(value, x, g); end != marquardt.None || err != nil {
			return end, err
		}
	}
}

// room is how many times dir may be followed before a bound.
func (b *boxed) room(dir []float64) float64 {
	t := math.Inf(1)
	for i, d := range dir {
		switch x := b.state.X[i]; {
		case d > 0:
			t = min(t, (b.upper[i]-x)/d)
		case d < 0:
			t = min(t, (b.lower[i]-x)/d)
		}
	}
	return t
}

// model computes theta, W and M from the memory; false if M does not exist.
func (b *boxed) model() bool {
	s := &b.state
	k := len(s.S)
	b.theta, b.w, b.m = 1, nil, nil
	if k == 0 {
		return true
	}
	b.theta = linalg.Dot(s.Y[k-1], s.Y[k-1]) / linalg.Dot(s.S[k-1], s.Y[k-1])
	inv := mat.NewDense(2*k, 2*k, nil)
	for i := range k {
		for j := range k {
			inv.Set(k+i, k+j, b.theta*linalg.Dot(s.S[i], s.S[j]))
			switch d := linalg.Dot(s.S[i], s.Y[j]); {
			case i == j:
				inv.Set(i, i, -d)
			case i > j:
				inv.Set(k+i, j, d)
				inv.Set(j, k+i, d)
			}
		}
	}
	b.m = mat.NewDense(2*k, 2*k, nil)
	if err := b.m.Inverse(inv); err != nil {
		if _, poor := err.(mat.Condition); !poor || !linalg.Finite(b.m.At(0, 0)) {
			return false
		}
	}
	b.w = append(b.w, s.Y...)
	for _, v := range s.S {
		u := slices.Clone(v)
		linalg.Scale(u, b.theta)
		b.w = append(b.w, u)
	}
	return true
}

// row returns row i of W.
func (b *boxed) row(i int) []float64 {
	out := make([]float64, len(b.w))
	for k, col := range b.w {
		out[k] = col[i]
	}
	return out
}

// times returns M v.
func (b *boxed) times(v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range out {
		out[i] = linalg.Dot(b.m.RawRowView(i), v)
	}
	return out
}

// breakpoints returns how far each parameter may go down the gradient, the
// directions that are not stopped at once, and the order of the finite ends.
func (b *boxed) breakpoints() (ends, d []float64, order []int) {
	x, g := b.state.X, b.state.Grad
	ends, d = make([]float64, b.n), make([]float64, b.n)
	for i, v := range g {
		switch {
		case v < 0:
			ends[i] = (x[i] - b.upper[i]) / v
		case v > 0:
			ends[i] = (x[i] - b.lower[i]) / v
		default:
			ends[i] = inf
		}
		if ends[i] > 0 {
			d[i] = -v
			if !math.IsInf(ends[i], 1) {
				order = append(order, i)
			}
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(ends[i], ends[j]) })
	return ends, d, order
}

// findCauchy follows the projected gradient to the first minimum of the model
// (algorithm CP), and lists the parameters that are free there.
func (b *boxed) findCauchy() {
	x, g := b.state.X, b.state.Grad
	ends, d, order := b.breakpoints()
	copy(b.cauchy, x)
	p := make([]float64, len(b.w))
	for i, col := range b.w {
		p[i] = linalg.Dot(col, d)
	}
	b.c = make([]float64, len(b.w))
	slope := -linalg.Dot(d, d)
	curve := -b.theta * slope
	least := 0x1p-52 * curve
	if len(b.w) > 0 {
		curve -= linalg.Dot(p, b.times(p))
	}
	stay, t := -slope/curve, 0.0
	for _, i := range order {
		dt := ends[i] - t
		if stay < dt || slope >= 0 {
			break
		}
		if t = ends[i]; d[i] > 0 {
			b.cauchy[i] = b.upper[i]
		} else {
			b.cauchy[i] = b.lower[i]
		}
		linalg.AddScaled(b.c, dt, p)
		slope += dt*curve + g[i]*g[i] + b.theta*g[i]*(b.cauchy[i]-x[i])
		curve -= b.theta * g[i] * g[i]
		if len(b.w) > 0 {
			w := b.row(i)
			mw := b.times(w)
			slope -= g[i] * linalg.Dot(mw, b.c)
			curve -= 2*g[i]*linalg.Dot(mw, p) + g[i]*g[i]*linalg.Dot(mw, w)
			linalg.AddScaled(p, g[i], w)
		}
		curve = max(curve, least)
		d[i] = 0
		stay = -slope / curve
	}
	if stay = max(stay, 0); slope >= 0 {
		stay = 0
	}
	b.stop(d, t+stay)
	linalg.AddScaled(b.c, stay, p)
}

// stop ends the way at t and lists the parameters that are free there.
func (b *boxed) stop(d []float64, t float64) {
	b.free = b.free[:0]
	for i, x := range b.state.X {
		if d[i] != 0 {
			b.cauchy[i] = min(max(x+t*d[i], b.lower[i]), b.upper[i])
		}
		if b.cauchy[i] > b.lower[i] && b.cauchy[i] < b.upper[i] {
			b.free = append(b.free, i)
		}
	}
}

// minimiseFree sets target to a minimum of the model over the free parameters,
// projected on the bounds; cut short if the projection is not downhill.
func (b *boxed) minimiseFree() {
	copy(b.target, b.cauchy)
	if len(b.free) == 0 || len(b.w) == 0 {
		return
	}
	x, g := b.state.X, b.state.Grad
	k := len(b.w)
	mc := b.times(b.c)
	r := make([]float64, len(b.free))
	v := make([]float64, k)
	gram := mat.NewDense(k, k, nil) // W^T W over the free parameters
	for e, i := range b.free {
		w := b.row(i)
		r[e] = g[i] + b.theta*(b.cauchy[i]-x[i]) - linalg.Dot(w, mc)
		linalg.AddScaled(v, r[e], w)
		for a := range k {
			linalg.AddScaled(gram.RawRowView(a), w[a], w)
		}
	}
	v = b.times(v)
	var n mat.Dense
	n.Mul(b.m, gram)
	n.Scale(-1/b.theta, &n)
	for a := range k {
		n.Set(a, a, 1+n.At(a, a))
	}
	var sol mat.VecDense
	if err := sol.SolveVec(&n, mat.NewVecDense(k, v)); err != nil {
		if _, poor := err.(mat.Condition); !poor {
			return
		}
	}
	step := make([]float64, len(b.free))
	downhill := 0.0
	for e, i := range b.free {
		step[e] = -r[e]/b.theta - linalg.Dot(b.row(i), sol.RawVector().Data)/(b.theta*b.theta)
		b.target[i] = min(max(b.cauchy[i]+step[e], b.lower[i]), b.upper[i])
	}
	for i, v := range b.target {
		downhill += (v - x[i]) * g[i]
	}
	if downhill < 0 && linalg.Finite(downhill) {
		return
	}
	b.cutShort(step)
}

// cutShort goes from the Cauchy point along step to the first bound.
func (b *boxed) cutShort(step []float64) {
	part := 1.0
	for e, i := range b.free {
		switch s := step[e]; {
		case s > 0:
			part = min(part, (b.upper[i]-b.cauchy[i])/s)
		case s < 0:
			part = min(part, (b.lower[i]-b.cauchy[i])/s)
		}
	}
	for e, i := range b.free {
		b.target[i] = b.cauchy[i] + part*step[e]
	}
}
