// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import "slices"

// Leading returns the dataset with these axes first, in this order, in every variable that has all
// of them. (xarray may store draws as (draw, chain), while readers of draws expect (chain, draw).)
// The other axes keep their order. Variables already in this order are shared, not copied; if all
// are, Leading returns d itself.
func (d *Dataset) Leading(axes ...string) (*Dataset, error) {
	if !slices.ContainsFunc(d.vars, func(v Variable) bool { return v.order(axes) != nil }) {
		return d, nil
	}
	out := &Dataset{Name: d.Name, Attrs: d.Attrs}
	for _, v := range d.vars {
		if err := out.AddVariable(v.permuted(v.order(axes))); err != nil {
			return nil, err
		}
	}
	for _, c := range d.coords {
		if err := out.AddCoordVariable(c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// order lists the axes of v with those named first. It is nil if they already come first or if v
// lacks one of them.
func (v Variable) order(first []string) []int {
	var order []int
	for _, name := range first {
		i := slices.Index(v.Dims, name)
		if i < 0 {
			return nil
		}
		order = append(order, i)
	}
	for i := range v.Dims {
		if !slices.Contains(order, i) {
			order = append(order, i)
		}
	}
	if slices.IsSorted(order) {
		return nil
	}
	return order
}

// permuted returns v with its axes in the given order; nil leaves it unchanged.
func (v Variable) permuted(order []int) Variable {
	if order == nil {
		return v
	}
	from := v
	v.Dims, v.Shape = nil, nil
	for _, axis := range order {
		v.Dims, v.Shape = append(v.Dims, from.Dims[axis]), append(v.Shape, from.Shape[axis])
	}
	strides := make([]int, len(order)) // in from, of the axes of v
	for i, axis := range order {
		strides[i] = from.Shape[axis+1:].Size()
	}
	place := func(i int) (at int) {
		for axis := len(order) - 1; axis >= 0; axis-- {
			at += i % v.Shape[axis] * strides[axis]
			i /= v.Shape[axis]
		}
		return at
	}
	switch data := from.Data.(type) {
	case []float64:
		v.Data = gathered(data, place)
	case []int64:
		v.Data = gathered(data, place)
	case []bool:
		v.Data = gathered(data, place)
	case []string:
		v.Data = gathered(data, place)
	}
	return v
}

func gathered[T any](data []T, place func(int) int) []T {
	out := make([]T, len(data))
	for i := range out {
		out[i] = data[place(i)]
	}
	return out
}
