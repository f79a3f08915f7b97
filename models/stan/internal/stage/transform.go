// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// Param is a parameter: its sizes and how many unconstrained numbers it has.
type Param struct {
	Decl  *syntax.Declare
	Type  *syntax.Sized
	Shape []int
	Free  int
	Parts []Param // of a tuple, or the tuples of an array with the last index running fastest
}

// Param finds out how a parameter is laid out.
func (m *Machine) Param(d *syntax.Declare, t *syntax.Sized) (Param, error) {
	p := Param{Decl: d, Type: t}
	if t.Kind == typing.Tuple {
		if len(t.Dims) > 0 {
			return m.arrayOfTuples(p, d, t)
		}
		for _, e := range t.Elems {
			q, err := m.Param(d, e)
			if err != nil {
				return p, err
			}
			p.Parts = append(p.Parts, q)
			p.Free += q.Free
		}
		return p, nil
	}
	shape, err := m.shape(t)
	if err != nil {
		return p, err
	}
	p.Shape = shape
	n, own := value.Size(shape[:len(t.Dims)]), shape[len(t.Dims):]
	p.Free = n * freeOf(t, own)
	return p, nil
}

// arrayOfTuples lays out an array of tuples, one tuple after the other.
func (m *Machine) arrayOfTuples(p Param, d *syntax.Declare, t *syntax.Sized) (Param, error) {
	shape, err := m.shape(&syntax.Sized{Dims: t.Dims, Kind: typing.Real})
	if err != nil {
		return p, err
	}
	p.Shape = shape
	one := *t
	one.Dims = nil
	for range value.Size(shape) {
		q, err := m.Param(d, &one)
		if err != nil {
			return p, err
		}
		p.Parts = append(p.Parts, q)
		p.Free += q.Free
	}
	return p, nil
}

// nested makes an array of its elements in order.
func nested(t typing.Type, shape []int, elems []value.Value) value.Value {
	out := value.Value{Type: t, Shape: shape}
	if len(shape) == 1 {
		out.Elems = elems
		return out
	}
	each := value.Size(shape[1:])
	for i := range shape[0] {
		out.Elems = append(out.Elems, nested(t.Element(), shape[1:], elems[i*each:(i+1)*each]))
	}
	return out
}

// freeOf is the number of unconstrained numbers of one element of the array.
func freeOf(t *syntax.Sized, own []int) int {
	switch t.Word {
	case "simplex", "sum_to_zero_vector":
		return max(0, own[0]-1)
	case "cholesky_factor_corr", "corr_matrix":
		return own[0] * (own[0] - 1) / 2
	case "cov_matrix":
		return own[0] * (own[0] + 1) / 2
	case "cholesky_factor_cov":
		return own[1]*(own[1]+1)/2 + (own[0]-own[1])*own[1]
	case "column_stochastic_matrix":
		return max(0, own[0]-1) * own[1]
	case "row_stochastic_matrix":
		return own[0] * max(0, own[1]-1)
	case "sum_to_zero_matrix":
		return max(0, own[0]-1) * max(0, own[1]-1)
	}
	n := value.Size(own)
	if t.Kind.IsComplex() {
		n *= 2
	}
	return n
}

// Constrain turns unconstrained numbers into the value of a parameter, and returns the logarithm of the Jacobian; nil if it is 0.
func (m *Machine) Constrain(p Param, u *ad.Node) (value.Value, *ad.Node, error) {
	t := p.Type.Type()
	if p.Type.Kind == typing.Tuple {
		out := value.Value{Type: t}
		var j []*ad.Node
		at := 0
		for _, q := range p.Parts {
			v, k, err := m.Constrain(q, slice(u, at, at+q.Free))
			if err != nil {
				return out, nil, err
			}
			at += q.Free
			out.Elems = append(out.Elems, v)
			if k != nil {
				j = append(j, k)
			}
		}
		if t.Dims > 0 {
			out = nested(t, p.Shape, out.Elems)
		}
		if len(j) == 0 {
			return out, nil, nil
		}
		return out, ad.AddN(j...), nil
	}
	if p.Free == 0 {
		return m.fixed(p, t), nil, nil
	}
	if t.Kind.IsComplex() {
		n := value.Size(p.Shape)
		pair := ad.Reshape(u, n, 2)
		r := t
		r.Kind = r.Kind.Realed()
		part := func(i int) value.Value { return value.Of(r, ad.Reshape(ad.Index(pair, 1, i), p.Shape...), p.Shape...) }
		return value.Complex(t, part(0), part(1)), nil, nil
	}
	n := value.Size(p.Shape[:len(p.Type.Dims)])
	own := p.Shape[len(p.Type.Dims):]
	if f := vectors[p.Type.Word]; f != nil {
		x, j := f(ad.Reshape(u, n, p.Free/n), own)
		return value.Of(t, ad.Reshape(x, p.Shape...), p.Shape...), j, x.Err()
	}
	x := ad.Reshape(u, p.Shape...)
	if len(own) == 2 { // matrices run down their columns
		x = ad.Reshape(ad.Permute(ad.Reshape(u, n, own[1], own[0]), 0, 2, 1), p.Shape...)
	}
	y, j, err := m.bounded(p, x)
	return value.Of(t, y, p.Shape...), j, err
}

func slice(u *ad.Node, from, to int) *ad.Node {
	if from == 0 && to == u.Size() {
		return u
	}
	return ad.Slice(u, 0, from, to)
}

// fixed is the value of a parameter without unconstrained numbers.
func (m *Machine) fixed(p Param, t typing.Type) value.Value {
	v := value.Known(t, make([]float64, value.Size(p.Shape)), p.Shape...)
	if p.Type.Word == "simplex" || p.Type.Word == "cholesky_factor_corr" || p.Type.Word == "corr_matrix" {
		for i := range v.F {
			v.F[i] = 1
		}
	}
	return v
}

// bound evaluates a bound; nil if there is none, or if it is infinite.
func (m *Machine) bound(x syntax.Expr, without float64, shape []int) (*ad.Node, error) {
	if x == nil {
		return nil, nil
	}
	v, err := m.eval(x)
	if err != nil {
		return nil, err
	}
	if v.Known() && !slices.ContainsFunc(v.F, func(f float64) bool { return f != without }) {
		return nil, nil
	}
	if v.Known() && math.IsInf(without, 0) && slices.Contains(v.F, without) {
		return nil, fmt.Errorf("some elements of the bound %s are infinite and some are not: declare the variables with and without a bound apart", m.Prog.Source.Text[x.At().From:x.At().To])
	}
	if len(v.Shape) > 0 && len(v.Shape) <= len(shape) && !slices.Equal(v.Shape, shape[len(shape)-len(v.Shape):]) {
		return nil, fmt.Errorf("the bound has size %v, and the variable %v: use a number, or the size of the variable", v.Shape, shape)
	}
	if v.Known() && slices.ContainsFunc(v.F, math.IsNaN) {
		return nil, fmt.Errorf("the bound %s is not a number: check the data it comes from", m.Prog.Source.Text[x.At().From:x.At().To])
	}
	return v.Node(), nil
}

// bounded applies bounds, or an offset and a multiplier, to the elements of x.
func (m *Machine) bounded(p Param, x *ad.Node) (*ad.Node, *ad.Node, error) {
	t := p.Type
	whole := func(n *ad.Node) *ad.Node { return ad.Sum(ad.Broadcast(n, p.Shape...)) }
	if t.Offset != nil || t.Multiplier != nil {
		off, err := m.bound(t.Offset, 0, p.Shape)
		if err != nil {
			return x, nil, err
		}
		by, err := m.bound(t.Multiplier, 1, p.Shape)
		if err != nil {
			return x, nil, err
		}
		var j *ad.Node
		if by != nil {
			x, j = ad.Mul(by, x), whole(ad.Log(by))
		}
		if off != nil {
			x = ad.Add(off, x)
		}
		return x, j, nil
	}
	lo, err := m.bound(t.Lower, math.Inf(-1), p.Shape)
	if err != nil {
		return x, nil, err
	}
	hi, err := m.bound(t.Upper, math.Inf(1), p.Shape)
	if err != nil {
		return x, nil, err
	}
	if err := apart(lo, hi); err != nil {
		return x, nil, err
	}
	y, j := inward(x, lo, hi, p.Shape)
	return y, j, nil
}

// apart checks that known lower bounds are below known upper ones.
func apart(lo, hi *ad.Node) error {
	if lo == nil || hi == nil || lo.Numbers() == nil || hi.Numbers() == nil {
		return nil
	}
	for i := range max(lo.Size(), hi.Size()) {
		if a, b := lo.Numbers()[i%lo.Size()], hi.Numbers()[i%hi.Size()]; !(a < b) {
			return fmt.Errorf("the lower bound %g is not below the upper bound %g, so that no value is between them: exchange or correct them", a, b)
		}
	}
	return nil
}

// inward moves numbers between bounds, of which either may be nil, and returns the logarithm of the Jacobian; nil if it is 0.
func inward(x, lo, hi *ad.Node, shape []int) (y, j *ad.Node) {
	switch {
	case lo == nil && hi == nil:
		return x, nil
	case hi == nil:
		return shifted(lo, ad.Exp(x)), ad.Sum(x)
	case lo == nil:
		return ad.Sub(hi, ad.Exp(x)), ad.Sum(x)
	}
	y = ad.Sigmoid(x)
	j = ad.Neg(ad.Sum(ad.Add(x, ad.Scale(2, ad.Softplus(ad.Neg(x)))))) // log sigmoid(x) + log sigmoid(-x)
	if !all(hi, 1) || !all(lo, 0) {
		d := ad.Sub(hi, lo)
		y, j = ad.Mul(d, y), ad.Add(ad.Sum(ad.Broadcast(ad.Log(d), shape...)), j)
	}
	return shifted(lo, y), j
}

// all says whether n is known and all of its numbers are x.
func all(n *ad.Node, x float64) bool {
	return n.Numbers() != nil && !slices.ContainsFunc(n.Numbers(), func(v float64) bool { return v != x })
}

// shifted adds a bound to x, unless it is 0.
func shifted(by, x *ad.Node) *ad.Node {
	if all(by, 0) {
		return x
	}
	return ad.Add(by, x)
}

// vectors are the transforms of constrained vectors and matrices: from an unconstrained matrix with a row by element of the array.
var vectors = map[string]func(u *ad.Node, own []int) (x, j *ad.Node){
	"ordered": func(u *ad.Node, own []int) (*ad.Node, *ad.Node) {
		k := own[0]
		first, rest := ad.Slice(u, 1, 0, 1), ad.Slice(u, 1, 1, k)
		if k == 1 {
			return u, nil
		}
		return ad.Cumsum(ad.Concat(1, first, ad.Exp(rest)), 1), ad.Sum(rest)
	},
	"positive_ordered":   func(u *ad.Node, own []int) (*ad.Node, *ad.Node) { return ad.Cumsum(ad.Exp(u), 1), ad.Sum(u) },
	"simplex":            func(u *ad.Node, own []int) (*ad.Node, *ad.Node) { return simplex(u, own[0]) },
	"sum_to_zero_vector": func(u *ad.Node, own []int) (*ad.Node, *ad.Node) { return zeroSum(u, own[0]), nil },
	"unit_vector": func(u *ad.Node, own []int) (*ad.Node, *ad.Node) {
		s := ad.SumAxes(ad.Square(u), 1)
		return ad.Div(u, ad.Reshape(ad.Sqrt(s), u.Shape()[0], 1)), ad.Scale(-0.5, ad.Sum(s))
	},
	"cholesky_factor_corr": func(u *ad.Node, own []int) (*ad.Node, *ad.Node) {
		l, j := corrCholesky(u, own[0], lowerByRow(own[0]))
		return l, j
	},
	"corr_matrix": func(u *ad.Node, own []int) (*ad.Node, *ad.Node) {
		k := own[0]
		l, j := corrCholesky(u, k, lowerByColumn(k))
		w := make([]float64, k)
		for i := 1; i < k; i++ {
			w[i] = float64(k - i - 1)
		}
		diag := diagonals(l, k)
		return gram(l), ad.Add(j, ad.Sum(ad.Mul(ad.Log(diag), ad.Const(w, k))))
	},
	"cov_matrix": func(u *ad.Node, own []int) (*ad.Node, *ad.Node) {
		k := own[0]
		l, d := covCholesky(u, k, k)
		w := make([]float64, k)
		for i := range w {
			w[i] = float64(k - i + 1)
		}
		return gram(l), ad.Shift(ad.Sum(ad.Mul(d, ad.Const(w, k))), float64(u.Shape()[0]*k)*math.Ln2)
	},
	"cholesky_factor_cov": func(u *ad.Node, own []int) (*ad.Node, *ad.Node) {
		l, d := covCholesky(u, own[0], own[1])
		return l, ad.Sum(d)
	},
	"column_stochastic_matrix": func(u *ad.Node, own []int) (*ad.Node, *ad.Node) {
		n := u.Shape()[0]
		x, j := simplex(ad.Reshape(u, n*own[1], own[0]-1), own[0])
		return ad.Permute(ad.Reshape(x, n, own[1], own[0]), 0, 2, 1), j
	},
	"row_stochastic_matrix": func(u *ad.Node, own []int) (*ad.Node, *ad.Node) {
		n := u.Shape()[0]
		free := ad.Permute(ad.Reshape(u, n, own[1]-1, own[0]), 0, 2, 1)
		x, j := simplex(ad.Reshape(free, n*own[0], own[1]-1), own[1])
		return ad.Reshape(x, n, own[0], own[1]), j
	},
	"sum_to_zero_matrix": func(u *ad.Node, own []int) (*ad.Node, *ad.Node) {
		n, r, c := u.Shape()[0], own[0], own[1]
		// columns of the free matrix, then rows of what these give
		x := zeroSum(ad.Reshape(u, n*(c-1), r-1), r)
		x = ad.Permute(ad.Reshape(x, n, c-1, r), 0, 2, 1)
		return ad.Reshape(zeroSum(ad.Reshape(x, n*r, c-1), c), n, r, c), nil
	},
}

// zeroSum maps k - 1 numbers to k whose sum is 0, by an isometry.
func zeroSum(u *ad.Node, k int) *ad.Node {
	n := u.Shape()[0]
	scale, back := make([]float64, k-1), make([]float64, k-1)
	for i := range scale {
		scale[i] = 1 / math.Sqrt(float64((i+1)*(i+2)))
		back[i] = float64(i + 1)
	}
	w := ad.Mul(u, ad.Const(scale, 1, k-1))
	zero := ad.Full(0, n, 1)
	return ad.Sub(ad.Concat(1, ad.CumsumWith(w, 1, false, true), zero), ad.Concat(1, zero, ad.Mul(w, ad.Const(back, 1, k-1))))
}

// simplex is the inverse of the isometric log ratio.
func simplex(u *ad.Node, k int) (x, j *ad.Node) {
	z := zeroSum(u, k)
	l := ad.LogSoftmax(z, 1)
	return ad.Exp(l), ad.Shift(ad.Sum(l), 0.5*float64(u.Shape()[0])*math.Log(float64(k)))
}

// lowerByRow lists the places below the diagonal of a k x k matrix, row by row.
func lowerByRow(k int) (at []int) {
	for i := range k {
		for j := range i {
			at = append(at, i*k+j)
		}
	}
	return at
}

func lowerByColumn(k int) (at []int) {
	for j := range k {
		for i := j + 1; i < k; i++ {
			at = append(at, i*k+j)
		}
	}
	return at
}

// spread puts the columns of x at places of rows of k^2 elements, and zeros elsewhere.
func spread(x *ad.Node, at []int, size int) *ad.Node {
	index := make([]int, size)
	for i := range index {
		index[i] = len(at)
	}
	for i, p := range at {
		index[p] = i
	}
	return ad.Gather(ad.Concat(1, x, ad.Full(0, x.Shape()[0], 1)), ad.Ints(index, size), 1)
}

// corrCholesky makes Cholesky factors of correlation matrices from canonical partial correlations at places below the diagonal.
func corrCholesky(u *ad.Node, k int, at []int) (l, j *ad.Node) {
	n := u.Shape()[0]
	// log(1 - tanh(u)^2) = -2 log cosh u
	logOne := ad.Scale(2, ad.Sub(ad.Scalar(math.Ln2), ad.Add(ad.Abs(u), ad.Log1p(ad.Exp(ad.Scale(-2, ad.Abs(u)))))))
	z := ad.Reshape(spread(ad.Tanh(u), at, k*k), n, k, k)
	w := ad.Reshape(spread(ad.Scale(0.5, logOne), at, k*k), n, k, k)
	before := ad.CumsumWith(w, 2, true, false)
	eye := ad.Reshape(ad.Eye(k), 1, k, k)
	l = ad.Mul(ad.Add(z, eye), ad.Exp(before))
	below := make([]float64, k*k)
	for _, p := range lowerByRow(k) {
		below[p] = 1
	}
	return l, ad.Add(ad.Sum(logOne), ad.Sum(ad.Mul(before, ad.Const(below, 1, k, k))))
}

// covCholesky makes Cholesky factors of covariance matrices, and returns the numbers on the diagonal before their exponential.
func covCholesky(u *ad.Node, rows, cols int) (l, d *ad.Node) {
	n := u.Shape()[0]
	var at, diag, where []int
	for i := range rows {
		for j := range min(i+1, cols) {
			if i == j {
				diag = append(diag, len(at))
				where = append(where, i*cols+j)
			}
			at = append(at, i*cols+j)
		}
	}
	d = ad.Gather(u, ad.Ints(diag, len(diag)), 1)
	off := make([]float64, len(at))
	for i := range off {
		off[i] = 1
	}
	for _, i := range diag {
		off[i] = 0
	}
	x := ad.Add(spread(ad.Mul(u, ad.Const(off, 1, len(at))), at, rows*cols), spread(ad.Exp(d), where, rows*cols))
	return ad.Reshape(x, n, rows, cols), d
}

func diagonals(l *ad.Node, k int) *ad.Node {
	at := make([]int, k)
	for i := range at {
		at[i] = i*k + i
	}
	return ad.Gather(ad.Reshape(l, l.Shape()[0], k*k), ad.Ints(at, k), 1)
}

// gram is L L^T of each matrix of a batch.
func gram(l *ad.Node) *ad.Node {
	n, r := l.Shape()[0], l.Shape()[1]
	var out []*ad.Node
	for i := range n {
		x := ad.Index(l, 0, i)
		out = append(out, ad.MatMul(x, ad.T(x)))
	}
	if n == 1 {
		return ad.Reshape(out[0], 1, r, r)
	}
	return ad.Stack(0, out...)
}
