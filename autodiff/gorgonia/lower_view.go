// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"slices"

	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// lowerRepeat repeats every element along one axis, as numpy.repeat does.
func lowerRepeat(l *lowering) *ad.Node {
	along, out := l.int("along"), l.n.Shape()
	s := l.x[0].Shape().Clone()
	for len(s) < len(out) {
		s = append(s, 1)
	}
	times := out[along] / s[along]
	split := slices.Insert(slices.Clone(s), along+1, 1)
	x := ad.Reshape(l.x[0], split...)
	split[along+1] = times
	return ad.Broadcast(x, split...)
}

// slicing cuts the axis of a sliceOp; an axis of one element goes later, by the
// shape of the node. As Gorgonia infers it, steps that do not divide the range
// leave its rest out: 0:5:2 are two elements.
func (l *lowering) slicing(x *ad.Node) *ad.Node {
	if l.v.FieldByName("Slice").IsNil() {
		return x
	}
	s, axis := l.op.(gt.Slice), l.int("along")
	if s.End() <= s.Start() {
		return x
	}
	step := max(s.Step(), 1)
	count := max(1, (min(s.End(), x.Shape()[axis])-s.Start())/step)
	return ad.SliceStep(x, axis, s.Start(), s.Start()+(count-1)*step+1, step)
}

func lowerSlice(l *lowering) *ad.Node { return l.slicing(l.x[0]) }

// lowerSliceIncr places the second argument among zeros: the gradient of a slice.
func lowerSliceIncr(l *lowering) *ad.Node {
	x := ad.Input("sliced", l.x[0].Shape()...)
	y := l.slicing(x)
	g := l.x[1]
	if g.Size() == y.Size() {
		g = ad.Reshape(g, y.Shape()...)
	}
	return ad.VJP(y, g, x)[0]
}

func lowerAt(l *lowering) *ad.Node {
	x := l.x[0]
	for _, i := range l.ints("coordinates") {
		x = ad.Index(x, 0, i)
	}
	return x
}

func lowerDiag(l *lowering) *ad.Node {
	n := l.x[0].Size()
	eye := make([]float64, n*n)
	for i := range n {
		eye[i*(n+1)] = 1
	}
	return ad.Where(ad.Const(eye, n, n), ad.Reshape(l.x[0], 1, n), ad.Scalar(0))
}

func lowerByIndices(l *lowering) *ad.Node {
	return ad.Gather(l.x[0], flat(l.x[1]), l.int("axis"))
}

// lowerByIndicesDiff is the gradient of byIndices: x, gradient, indices.
func lowerByIndicesDiff(l *lowering) *ad.Node {
	axis := l.int("axis")
	return ad.ScatterAdd(l.x[1], flat(l.x[2]), axis, l.x[0].Shape()[axis])
}

// lowerUpsample repeats the last two of four axes.
func lowerUpsample(l *lowering) *ad.Node {
	s, k := l.x[0].Shape(), l.int("stride")+1
	x := ad.Reshape(l.x[0], s[0], s[1], s[2], 1, s[3], 1)
	return ad.Broadcast(x, s[0], s[1], s[2], k, s[3], k)
}

// lowerUpsampleDiff is its gradient: input, output, gradient of that.
func lowerUpsampleDiff(l *lowering) *ad.Node {
	s, k := l.x[0].Shape(), l.int("stride")+1
	return ad.SumAxes(ad.Reshape(l.x[2], s[0], s[1], s[2], k, s[3], k), 3, 5)
}
