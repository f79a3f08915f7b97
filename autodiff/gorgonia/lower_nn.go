// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"
	"reflect"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// softmaxAxis is the last axis unless the operation names one; it is the first
// of a column.
func (l *lowering) softmaxAxis() int {
	s := l.kids[0].Shape()
	switch axis := l.int("axis"); {
	case axis != -1:
		return axis
	case s.IsColVec() || (s.IsVector() && !s.IsRowVec()):
		return 0
	}
	return len(s) - 1
}

func lowerSoftmax(l *lowering) *ad.Node {
	if l.bool("isLog") {
		return ad.LogSoftmax(l.x[0], l.softmaxAxis())
	}
	return ad.Softmax(l.x[0], l.softmaxAxis())
}

// lowerSoftmaxDiff is the gradient of softmax: input, output y, gradient g.
//
//	softmax: y (g - sum(y g)),  log: g - exp(y) sum(g)
func lowerSoftmaxDiff(l *lowering) *ad.Node {
	y, g, axis := l.x[1], l.x[2], l.softmaxAxis()
	keep := y.Shape().Clone()
	keep[axis] = 1
	sum := func(x *ad.Node) *ad.Node { return ad.Reshape(ad.SumAxes(x, axis), keep...) }
	if l.bool("isLog") {
		return ad.Sub(g, ad.Mul(ad.Exp(y), sum(g)))
	}
	return ad.Mul(y, ad.Sub(g, sum(ad.Mul(y, g))))
}

// lowerDropout multiplies by what Gorgonia draws for an array of ones, so that
// gradient and mode are right: Gorgonia's rule divides by the share that is
// dropped instead of the share that is kept.
func lowerDropout(l *lowering) *ad.Node {
	x := l.x[0]
	l.x = []*ad.Node{ad.Full(1, x.Shape()...)}
	return ad.Mul(x, l.call(l.step()))
}

// lowerSparsemax projects the vectors along one axis on the simplex.
//
//	y = max(x - tau, 0),  tau = (sum of the k largest - 1) / k,
//	k = number of j with 1 + j x(j) > x(1) + ... + x(j), x(j) the j-th largest
//
// Gradient: that of the support. Gorgonia handles the last axis alone.
//
// Reference: Martins, Astudillo 2016, algorithm 1.
func lowerSparsemax(l *lowering) *ad.Node { return sparsemax(l.x[0], lastUnless(l.v, l.x[0])) }

func sparsemax(x *ad.Node, axis int) *ad.Node {
	keep := x.Shape().Clone()
	keep[axis] = 1
	along := func(x *ad.Node) *ad.Node { return ad.Reshape(x, keep...) }
	x = ad.Sub(x, ad.StopGradient(along(ad.MaxAxes(x, axis))))
	sorted := ad.Sort(x, axis, true)
	rank := make([]float64, x.Shape()[axis])
	for i := range rank {
		rank[i] = float64(i + 1)
	}
	shape := make([]int, len(keep))
	for i := range shape {
		shape[i] = 1
	}
	shape[axis] = len(rank)
	in := ad.Greater(ad.Add(ad.Scalar(1), ad.Mul(ad.Const(rank, shape...), sorted)), ad.Cumsum(sorted, axis))
	tau := ad.Div(ad.Shift(ad.SumAxes(ad.Mul(in, sorted), axis), -1), ad.SumAxes(in, axis))
	return ad.ReLU(ad.Sub(x, along(tau)))
}

// lowerSparsemaxDiff is its gradient: output y, gradient g.
//
//	s (g - sum(s g) / sum(s)),  s = 1 where y > 0
func lowerSparsemaxDiff(l *lowering) *ad.Node {
	y, g := l.x[0], l.x[1]
	axis := lastUnless(reflect.Indirect(reflect.ValueOf(l.kids[0].Op())), y) // it names none itself
	keep := y.Shape().Clone()
	keep[axis] = 1
	s := ad.Greater(y, ad.Scalar(0))
	mean := ad.Div(ad.SumAxes(ad.Mul(s, g), axis), ad.SumAxes(s, axis))
	return ad.Mul(s, ad.Sub(g, ad.Reshape(mean, keep...)))
}

// lastUnless is the last axis of x unless the operation names one.
func lastUnless(op reflect.Value, x *ad.Node) int {
	if axis := int(op.FieldByName("axis").Int()); axis != -1 {
		return axis
	}
	return len(x.Shape()) - 1
}

// lowerGroupNorm brings groups of channels of each batch to mean 0 and variance 1.
func lowerGroupNorm(l *lowering) *ad.Node {
	x := l.x[0]
	s, groups := x.Shape(), l.int("numGroups")
	if groups < 1 || s[1]%groups != 0 {
		return failed(fmt.Errorf("%d groups do not divide %d channels: use a divisor of the number of channels", groups, s[1]))
	}
	y := ad.Reshape(x, s[0]*groups, x.Size()/(s[0]*groups))
	y = ad.Sub(y, ad.Reshape(ad.MeanAxes(y, 1), s[0]*groups, 1))
	variance := ad.MeanAxes(ad.Square(y), 1)
	scale := ad.Rsqrt(ad.Shift(variance, l.v.FieldByName("epsilon").Float()))
	return ad.Mul(y, ad.Reshape(scale, s[0]*groups, 1))
}

// lowerGroupNormDiff is its gradient: input, gradient.
func lowerGroupNormDiff(l *lowering) *ad.Node {
	y := lowerGroupNorm(l)
	return ad.VJP(y, ad.Reshape(l.x[1], y.Shape()...), l.x[0])[0]
}
