// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"errors"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Variable is a measured quantity that a model depends on and whose values have errors.
type Variable struct {
	// Node is an input of as many elements as there are points.
	Node   *ad.Node
	Values []float64
	// Sigma holds the standard deviations, one for each point or one for all. A zero takes the value as exact.
	Sigma []float64
}

// Response is a measured quantity that a model describes.
type Response struct {
	// Model has an element for each point, which depends on the variables of that point alone.
	Model *ad.Node
	// Y holds the data. Nil makes the model implicit: its values are to be 0 at the true values of the variables.
	Y []float64
	// Sigma holds the standard deviations of Y, one for each point or one for all. Default 1.
	Sigma []float64
}

// ErrorsInX is a least-squares problem in which variables have errors as well: orthogonal distance regression. It minimises, over the parameters b and
// the true values x + d of the variables,
//
//	sum_i |(f(x_i + d_i, b) - y_i)/sigma_y|^2 + |d_i/sigma_x|^2
//
// or, for implicit models, the second term with f(x_i + d_i, b) = 0.
type ErrorsInX struct {
	Responses []Response
	Params    []*ad.Node
	Variables []Variable
	// Cov holds a covariance of the variables of each point, one matrix after another, row-major, in place of their Sigma. Default: independent errors.
	Cov []float64
}

// Orthogonal is a problem with errors in its variables, whose true values at given parameters it finds point by point.
//
// With z = d/sigma_x, the scaled derivatives V of a point's residuals r with respect to z, and c = 1, or 0 for implicit models, the least of c |r|^2 + |z|^2 at fixed
// parameters has
//
//	z = -V^T (c + V V^T)^-1 (r - V z),   c + V V^T = L L^T
//
// so that L^-1 (r - V z) are residuals of the parameters alone, whose Jacobian L^-1 dr/db gives the gradient and the Gauss-Newton matrix of the whole problem, the Schur
// complement of the points (decision 0026). A fit costs as much as an ordinary one, times the few steps to the true values.
//
// Reference: Boggs, Byrd & Schnabel, SIAM J. Sci. Stat. Comput. 8, 1052 (1987), doi:10.1137/0908085.
type Orthogonal struct {
	*Problem
	points, q, m int // points, responses and variables
	implicit     bool
	x            [][]float64 // observed variables
	spread       []float64   // points x m x m: lower triangular factors of the covariances
	y, sigma     [][]float64
	state        *ad.State // values of the models and their derivatives with respect to the variables
	slopes       *Problem  // for the derivatives with respect to the parameters
	at           []float64 // parameters of what follows; nil before the first
	z            []float64 // points x m: scaled errors
	r            []float64 // points x q: scaled residuals
	v            []float64 // points x q x m
	l            []float64 // points x q x q
}

// FromErrorsInX makes the problem of fitting parameters where variables have errors. Residuals are those of the first response at all points, then those of the
// others. The caller sets bounds and Start.
func FromErrorsInX(d ErrorsInX) (*Orthogonal, error) {
	o := &Orthogonal{q: len(d.Responses), m: len(d.Variables)}
	if o.q == 0 || o.m == 0 {
		return nil, fmt.Errorf("optim: there are %s and %s with errors: want at least one of each", errtext.Count(o.q, "response"), errtext.Count(o.m, "variable"))
	}
	o.points = len(d.Variables[0].Values)
	if err := o.take(&d); err != nil {
		return nil, err
	}
	if err := o.compile(&d); err != nil {
		return nil, err
	}
	n, q, m := o.points, o.q, o.m
	o.z, o.r, o.v, o.l = make([]float64, n*m), make([]float64, n*q), make([]float64, n*q*m), make([]float64, n*q*q)
	o.Problem = &Problem{M: n * q, N: o.slopes.N, Names: o.slopes.Names, Residual: o.residual, Jacobian: o.jacobian}
	return o, nil
}

// take checks and copies the data.
func (o *Orthogonal) take(d *ErrorsInX) error {
	var errs []error
	n := o.points
	whole := func(what string, s []float64, least float64) []float64 {
		if len(s) == 1 {
			s = slices.Repeat(s, n)
		}
		if len(s) != n {
			errs = append(errs, fmt.Errorf("optim: the errors of %s are %s: want one, or one for each of %d points", what, errtext.Count(len(s), "value"), n))
		}
		for i, v := range s {
			if !(v >= least) || math.IsInf(v, 1) {
				errs = append(errs, fmt.Errorf("optim: the error of %s at point %d is %g: want a finite number above 0", what, i, v))
				break
			}
		}
		return s
	}
	var sx [][]float64
	for _, v := range d.Variables {
		switch {
		case v.Node == nil || v.Node.Size() != len(v.Values) || len(v.Values) != n:
			errs = append(errs, fmt.Errorf("optim: the variable %v has %s: want an input of as many elements, which is %d as for the first", v.Node, errtext.Count(len(v.Values), "value"), n))
		case !linalg.AllFinite(v.Values):
			errs = append(errs, fmt.Errorf("optim: the variable %v contains NaN or infinity: leave those points out", v.Node))
		}
		o.x = append(o.x, v.Values)
		if d.Cov == nil {
			sx = append(sx, whole(fmt.Sprint(v.Node), v.Sigma, 0))
		}
	}
	for k, r := range d.Responses {
		if r.Model == nil || r.Model.Size() != n && r.Model.Size() != 1 || r.Y != nil && len(r.Y) != n {
			errs = append(errs, fmt.Errorf("optim: response %d has a model %v and %s: want an element for each of %d points", k, r.Model, errtext.Count(len(r.Y), "value"), n))
		}
		if r.Y != nil && !linalg.AllFinite(r.Y) {
			errs = append(errs, fmt.Errorf("optim: response %d contains NaN or infinity: leave those points out", k))
		}
		sigma := r.Sigma
		if sigma == nil {
			sigma = []float64{1}
		}
		o.y, o.sigma = append(o.y, r.Y), append(o.sigma, whole(fmt.Sprintf("response %d", k), sigma, math.SmallestNonzeroFloat64))
	}
	o.implicit = d.Responses[0].Y == nil
	for _, y := range o.y {
		if (y == nil) != o.implicit {
			errs = append(errs, fmt.Errorf("optim: some responses have data and others have none: give all of them data, or none"))
			break
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return o.factor(d.Cov, sx)
}

// factor fills the factors of the covariances of the variables.
func (o *Orthogonal) factor(cov []float64, sx [][]float64) error {
	n, m := o.points, o.m
	o.spread = make([]float64, n*m*m)
	if cov == nil {
		for j, s := range sx {
			for i, v := range s {
				o.spread[(i*m+j)*m+j] = v
			}
		}
		return nil
	}
	if len(cov) != n*m*m {
		return fmt.Errorf("optim: the covariances of the variables have %s: want %d x %d for each of %d points", errtext.Count(len(cov), "element"), m, m, n)
	}
	for i := range n {
		l, err := choleskyOf(cov[i*m*m:(i+1)*m*m], m)
		if err != nil {
			return fmt.Errorf("optim: variables at point %d: %w", i, err)
		}
		copy(o.spread[i*m*m:], l)
	}
	return nil
}

// compile makes the programs.
func (o *Orthogonal) compile(d *ErrorsInX) error {
	n := o.points
	var inputs, values, slopes []*ad.Node
	var data []Data
	for _, v := range d.Variables {
		inputs = append(inputs, v.Node)
		data = append(data, Data{Node: v.Node, Values: v.Values})
	}
	for k, r := range d.Responses {
		f := ad.Broadcast(ad.Reshape(r.Model, r.Model.Size()), n)
		if err := f.Err(); err != nil {
			return fmt.Errorf("optim: %w", err)
		}
		values = append(values, ad.Div(f, ad.Const(o.sigma[k])))
		slopes = append(slopes, ad.Grad(ad.Sum(f), inputs...)...)
	}
	prog, err := ad.Compile(append(slices.Clone(values), slopes...), ad.Settings{Inputs: append(slices.Clone(inputs), d.Params...), Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return fmt.Errorf("optim: %w", err)
	}
	o.state = prog.NewState()
	o.slopes, err = FromGraph(ad.Concat(0, values...), d.Params, data...)
	return err
}

// Numbers of the search for true values: the most steps, and the change, relative to the size of the errors, at which it ends.
const (
	mostSteps = 60
	stillStep = 1e-12
)

// settle finds the true values of the variables at parameters b.
func (o *Orthogonal) settle(b []float64) error {
	if o.at != nil && slices.Equal(o.at, b) {
		return nil
	}
	o.at = nil
	at := 0
	for k := o.m; at < len(b); k++ {
		at += copy(o.state.Input(k), b[at:])
	}
	clear(o.z)
	w := newSteps(o)
	for range mostSteps {
		if err := o.evaluate(); err != nil {
			return err
		}
		if !w.move() {
			break
		}
	}
	o.at = slices.Clone(b)
	return nil
}

// evaluate computes residuals and their derivatives at the present variables.
func (o *Orthogonal) evaluate() error {
	n, q, m := o.points, o.q, o.m
	for j := range m {
		to := o.state.Input(j)
		for i := range n {
			d := 0.0
			for k := range j + 1 {
				d += o.spread[(i*m+j)*m+k] * o.z[i*m+k]
			}
			to[i] = o.x[j][i] + d
		}
	}
	if err := o.state.Run(); err != nil {
		return err
	}
	for a := range q {
		f := o.state.Output(a)
		for i := range n {
			o.r[i*q+a] = f[i]
			if o.y[a] != nil {
				o.r[i*q+a] -= o.y[a][i] / o.sigma[a][i]
			}
		}
		for k := range m {
			for i := range n {
				s := 0.0
				for j := k; j < m; j++ {
					if l := o.spread[(i*m+j)*m+k]; l != 0 {
						s += l * o.state.Output(q + a*m + j)[i]
					}
				}
				o.v[(i*q+a)*m+k] = s / o.sigma[a][i]
			}
		}
	}
	return nil
}

// steps are the steps of all points towards their true values.
type steps struct {
	*Orthogonal
	last  []float64 // z before the last step
	best  []float64 // what is minimised there
	still []bool
	size  []float64 // parts of steps that were taken
	rest  []float64 // L^-1 (r - V z) of a point
}

func newSteps(o *Orthogonal) *steps {
	w := &steps{Orthogonal: o, last: make([]float64, len(o.z)), best: make([]float64, o.points), still: make([]bool, o.points), size: repeated(1, o.points), rest: make([]float64, o.q)}
	for i := range w.best {
		w.best[i] = inf
	}
	return w
}

// move takes a step at each point that still moves, and reports whether there is any. A step that made things worse is halved.
func (w *steps) move() (any bool) {
	m := w.m
	for i := range w.points {
		if w.still[i] {
			continue
		}
		z, last := w.z[i*m:(i+1)*m], w.last[i*m:(i+1)*m]
		now := w.merit(i)
		if !(now <= w.best[i]*(1+1e-9)) && w.size[i] > 1e-3 {
			w.size[i] /= 2
			for k := range z {
				z[k] = last[k] + (z[k]-last[k])/2
			}
			any = true
			continue
		}
		if math.IsNaN(now) {
			w.still[i] = true
			continue
		}
		if !w.implicit || math.IsInf(w.best[i], 1) {
			w.best[i] = now
		}
		copy(last, z)
		w.size[i] = 1
		moved := w.step(i, z)
		w.still[i] = !(moved > stillStep)
		any = any || !w.still[i]
	}
	return any
}

// merit is what steps of a point are to lower: the sum of squares or, for implicit models, the distance from the surface, which steps along it may raise
// up to that at the start.
func (w *steps) merit(i int) float64 {
	r := w.r[i*w.q : (i+1)*w.q]
	if w.implicit {
		return linalg.Norm(r)
	}
	z := w.z[i*w.m : (i+1)*w.m]
	return linalg.Dot(r, r) + linalg.Dot(z, z)
}

// step sets z to -V^T (c + V V^T)^-1 (r - V z) and returns how far it moved.
func (w *steps) step(i int, z []float64) (moved float64) {
	q, m := w.q, w.m
	v := w.v[i*q*m : (i+1)*q*m]
	if !w.reduce(i, w.rest) {
		return math.NaN()
	}
	l := w.l[i*q*q : (i+1)*q*q]
	for a := q - 1; a >= 0; a-- { // L^-T
		for b := a + 1; b < q; b++ {
			w.rest[a] -= l[b*q+a] * w.rest[b]
		}
		w.rest[a] /= l[a*q+a]
	}
	scale := 1.0
	for k := range m {
		s := 0.0
		for a := range q {
			s -= v[a*m+k] * w.rest[a]
		}
		moved, scale = max(moved, math.Abs(s-z[k])), max(scale, math.Abs(s))
		z[k] = s
	}
	return moved / scale
}

// reduce sets rest to L^-1 (r - V z) of a point; false where it has no numbers.
func (o *Orthogonal) reduce(i int, rest []float64) bool {
	q, m := o.q, o.m
	v, l, z := o.v[i*q*m:(i+1)*q*m], o.l[i*q*q:(i+1)*q*q], o.z[i*m:(i+1)*m]
	for a := range q {
		for b := range a + 1 {
			l[a*q+b] = linalg.Dot(v[a*m:(a+1)*m], v[b*m:(b+1)*m])
		}
		if !o.implicit {
			l[a*q+a]++
		}
		rest[a] = o.r[i*q+a] - linalg.Dot(v[a*m:(a+1)*m], z)
	}
	if row, _ := linalg.Cholesky(l, q); row >= 0 || !linalg.AllFinite(rest) {
		return false
	}
	forwards(l, rest)
	return true
}

// forwards solves L x = b in place.
func forwards(l, x []float64) {
	q := len(x)
	for a := range q {
		x[a] = (x[a] - linalg.Dot(l[a*q:a*q+a], x[:a])) / l[a*q+a]
	}
}

// residual is that of the parameters alone.
func (o *Orthogonal) residual(r, b []float64) error {
	if err := o.settle(b); err != nil {
		return err
	}
	rest := make([]float64, o.q)
	for i := range o.points {
		ok := o.reduce(i, rest)
		for a := range o.q {
			if r[a*o.points+i] = rest[a]; !ok {
				r[a*o.points+i] = math.NaN()
			}
		}
	}
	return nil
}

// jacobian is L^-1 times the derivatives at the true values.
func (o *Orthogonal) jacobian(j, b []float64) error {
	r := make([]float64, o.M)
	if err := o.residual(r, b); err != nil {
		return err
	}
	at := make([][]float64, o.m)
	for k := range at {
		at[k] = slices.Clone(o.state.Input(k))
	}
	if err := o.slopes.SetData(at...); err != nil {
		return err
	}
	if err := o.slopes.Jacobian(j, b); err != nil {
		return err
	}
	n, q := o.points, o.q
	column := make([]float64, q)
	for k := range o.N {
		for i := range n {
			for a := range q {
				column[a] = j[k*o.M+a*n+i]
			}
			forwards(o.l[i*q*q:(i+1)*q*q], column)
			for a := range q {
				j[k*o.M+a*n+i] = column[a]
			}
		}
	}
	return nil
}

// True returns the true values of the variables at the parameters of a fit, a list for each variable.
func (o *Orthogonal) True(r *Result) ([][]float64, error) {
	if len(r.X) != o.N {
		return nil, fmt.Errorf("optim: the result has %d parameters, but the problem has %d: pass the result of a fit of this problem", len(r.X), o.N)
	}
	if err := o.settle(r.X); err != nil {
		return nil, err
	}
	out := make([][]float64, o.m)
	for k := range out {
		out[k] = slices.Clone(o.state.Input(k))
	}
	return out, nil
}
