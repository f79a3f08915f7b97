// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !page

package hdf5

import "gorgonia.org/tensor"

// Dense returns the elements as a Gorgonia tensor of the same shape: float32
// for floats of up to four bytes, float64 for longer ones, int64 for integers
// and bool for booleans.
func (a *Array) Dense() (*tensor.Dense, error) {
	if a.err == nil && a.Len() == 0 {
		return nil, a.misuse("has no elements: a tensor needs one")
	}
	_, t := a.scalarType()
	var data any
	var err error
	switch {
	case t.isBool():
		data, err = a.Bools()
	case t.Class == Float && t.Size <= 4:
		data, err = a.Float32s()
	case t.Class == Float:
		data, err = a.Float64s()
	default:
		data, err = a.Int64s()
	}
	if err != nil {
		return nil, err
	}
	shape := a.Shape()
	if len(shape) == 0 {
		shape = []int{1}
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data)), nil
}
