// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

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

// gathers reports whether a cluster is better walked over tiles of several short rows, whose inputs are gathered first: if
// much is computed from few inputs with contiguous rows, and nothing is summed.
func (l *lowering) gathers() bool {
	k := len(l.Dims) - 1
	if l.Dims[k] > longRow {
		return false
	}
	strided := map[*Value]bool{}
	for _, v := range l.c.values {
		if v.kindIs(Reduction) {
			return false
		}
		for _, x := range v.In {
			if l.inside(v, x) {
				continue
			}
			s := l.merged(l.spaceStrides(v, x))
			if s[k] == 0 && slices.ContainsFunc(s, func(n int) bool { return n != 0 }) || s[k] > 1 {
				return false
			}
			if !Packed(tensor.Shape(l.Dims), s) {
				strided[x] = true
			}
		}
	}
	return len(l.c.values) >= 3*len(strided)
}
