// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim/internal/marquardt"
)

// dogbox runs a dogleg in the rectangle where the bounds meet a box-shaped trust
// region; parameters on a bound that the gradient pushes against stay there
// (Voglis & Lagaris, WSEAS Int. Conf. on Applied Mathematics, 2004).
type dogbox struct {
	*iterate
	d    *dense
	held []bool
	// lo and hi are the corners of the scaled rectangle around x.
	lo, hi []float64
	// newton is the scaled Gauss-Newton step.
	newton []float64
}

// Dogbox is the dogleg in a box (Voglis & Lagaris 2004), for bounds that many parameters reach.
const Dogbox Method = "dogbox"

func init() { methods[Dogbox] = method{run: (*iterate).dogbox, bounds: true, on: true} }

func (w *iterate) dogbox(ctx context.Context) Status {
	n := w.n
	b := &dogbox{iterate: w, d: w.model.(*dense), held: make([]bool, n), lo: make([]float64, n), hi: make([]float64, n), newton: make([]float64, n)}
	w.images[0] = make([]float64, w.model.imageSize())
	radius := 0.0
	for first := true; ; {
		b.setInverseScales()
		if radius == 0 {
			radius = b.firstRadius()
		}
		b.hold()
		gnorm := w.slope(b.held)
		if gnorm < w.s.GTol || gnorm == 0 {
			return GradientSmall
		}
		b.gaussNewton()
		for {
			if end, is := w.over(ctx); is {
				return end
			}
			b.rectangle(radius)
			atEdge := b.dogleg()
			predicted := -b.predict(b.stepH)
			if first = first && w.tooSmall(predicted, gnorm, atEdge && linalg.MaxAbs(b.stepH) > 0.95*radius); first {
				radius *= marquardt.Grow
				continue
			}
			next, again, end := b.attempt(predicted, radius, atEdge)
			if end != marquardt.None {
				return end
			}
			radius = next
			if !w.moves(radius) {
				return Stuck
			}
			if again {
				break
			}
		}
	}
}

// hold finds the parameters that a bound stops, and takes them out of the scaled
// problem.
func (b *dogbox) hold() {
	for i, g := range b.grad {
		b.held[i] = b.x[i] <= b.p.Lower[i] && g > 0 || b.x[i] >= b.p.Upper[i] && g < 0
		if b.held[i] {
			b.iterate.d[i] = 0
		}
		b.gh[i] = b.iterate.d[i] * g
	}
}

// gaussNewton sets newton to a least-squares step of the parameters that are not
// held.
func (b *dogbox) gaussNewton() {
	b.d.scaled()
	q := b.d.q
	q.SolveUpper(b.stepH, b.d.b)
	for k, to := range q.Perm {
		b.newton[to] = -b.stepH[k]
	}
}

// rectangle sets how far each scaled parameter may move.
func (b *dogbox) rectangle(radius float64) {
	for i, x := range b.x {
		b.lo[i] = max(-radius, (b.p.Lower[i]-x)*b.scale[i])
		b.hi[i] = min(radius, (b.p.Upper[i]-x)*b.scale[i])
	}
}

// dogleg sets stepH: the Gauss-Newton step where it fits, else the way to the
// Cauchy point and from there towards it, up to the rectangle.
func (b *dogbox) dogleg() (atEdge bool) {
	if b.reach(nil, b.newton) >= 1 {
		copy(b.stepH, b.newton)
		return false
	}
	down := b.scratch[0]
	for i, g := range b.gh {
		down[i] = -g
	}
	a, slope := b.quadratic(down, nil)
	t := b.reach(nil, down)
	if a > 0 {
		t = min(t, -slope/(2*a))
	}
	for i, v := range down {
		b.stepH[i] = t * v
		down[i] = b.newton[i] - b.stepH[i]
	}
	t = min(1, max(0, b.reach(b.stepH, down)))
	linalg.AddScaled(b.stepH, t, down)
	return true
}

// reach returns how many times v may be added to from before the rectangle ends.
func (b *dogbox) reach(from, v []float64) float64 {
	t := math.Inf(1)
	for i, s := range v {
		at := 0.0
		if from != nil {
			at = from[i]
		}
		switch {
		case s > 0:
			t = min(t, (b.hi[i]-at)/s)
		case s < 0:
			t = min(t, (b.lo[i]-at)/s)
		}
	}
	return t
}

// attempt evaluates the step; a parameter that reaches a bound goes onto it. It reports whether the Jacobian was evaluated again.
func (b *dogbox) attempt(predicted, radius float64, atEdge bool) (next float64, again bool, end Status) {
	for i, h := range b.stepH {
		x := b.x[i] + b.iterate.d[i]*h
		lower, upper := b.p.Lower[i], b.p.Upper[i]
		if h < 0 && h <= (lower-b.x[i])*b.scale[i]*(1-1e-15) {
			x = lower
		} else if h > 0 && h >= (upper-b.x[i])*b.scale[i]*(1-1e-15) {
			x = upper
		}
		b.xNew[i] = min(max(x, lower), upper)
		b.step[i] = b.xNew[i] - b.x[i]
	}
	length := linalg.MaxAbs(b.stepH)
	cost, ok := b.tried()
	if !ok {
		return 0.25 * length, false, marquardt.None
	}
	actual := b.cost - cost
	next, ratio := resize(radius, actual, predicted, length, atEdge)
	end = b.ended(actual, ratio, atEdge && length > 0.95*radius)
	if actual > 0 && !b.advance(cost) {
		return 0.25 * length, true, marquardt.None
	}
	return next, actual > 0, end
}
