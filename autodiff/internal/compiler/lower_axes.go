// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import "slices"

// spaceStrides returns the strides of x, an input of v, along the space.
func (l *lowering) spaceStrides(v, x *Value) []int {
	full := spaceOf(v)
	st := AlignedStrides(x.Shape, x.Layout.strides, full)
	out := make([]int, 0, len(l.c.space))
	for i, d := range full {
		if d != 1 {
			out = append(out, st[i])
		}
	}
	return out
}

func (l *lowering) sumStrides(v *Value) []int {
	full := v.In[0].Shape
	st := KeptStrides(full, v.Attr)
	out := make([]int, 0, len(l.c.space))
	for i, d := range full {
		if d != 1 {
			out = append(out, st[i])
		}
	}
	return out
}

// mergeAxes joins neighbouring axes that every array crosses evenly.
func (l *lowering) mergeAxes() {
	var all [][]int
	for _, v := range l.c.values {
		for _, x := range v.In {
			if !l.inside(v, x) {
				all = append(all, l.spaceStrides(v, x))
			}
		}
		if v.kindIs(Reduction) {
			all = append(all, l.sumStrides(v))
		}
	}
	for i, d := range l.c.space {
		if i > 0 && !slices.ContainsFunc(all, func(s []int) bool { return s[i-1] != s[i]*d }) {
			l.Dims[len(l.Dims)-1] *= d
			continue
		}
		l.Dims = append(l.Dims, d)
	}
	if len(l.Dims) == 0 {
		l.Dims = []int{1}
	}
}

// merged maps strides along the space to strides along the merged axes.
func (l *lowering) merged(s []int) []int {
	out, k, n := make([]int, len(l.Dims)), 0, 1
	if l.N == 0 {
		return out
	}
	for i, d := range l.c.space {
		n *= d
		out[k] = s[i]
		if n == l.Dims[k] {
			k, n = k+1, 1
		}
	}
	return out
}
