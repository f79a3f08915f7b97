// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package xarray implements the conventions by which xarray and ArviZ store labelled
// arrays in files of any format: which arrays of a group are labels, how unnamed axes are
// called, and how booleans are stored.
//
//	labels := xarray.Labels(attrs)
//	d, err := xarray.Dataset("posterior", attrs, vars, labels)
package xarray

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/tensor"
)

// coordinates is the attribute that lists labels other than dimensions.
const coordinates = "coordinates"

// Labels removes the list of labels from the attributes of a group or an array and
// returns it.
func Labels(attrs map[string]string) []string {
	list := strings.Fields(attrs[coordinates])
	delete(attrs, coordinates)
	return list
}

// Unpack computes numbers that were packed into a smaller type from the attributes of an array, and removes those:
//
//	value = stored * scale_factor + add_offset
//
// Missing numbers must be NaN already.
func Unpack(v *tensor.Variable) error {
	scale, scaled := v.Attrs["scale_factor"]
	offset, moved := v.Attrs["add_offset"]
	if !scaled && !moved {
		return nil
	}
	by, to := 1.0, 0.0
	for text, x := range map[*string]*float64{&scale: &by, &offset: &to} {
		if *text == "" {
			continue
		}
		var err error
		if *x, err = strconv.ParseFloat(*text, 64); err != nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
			return fmt.Errorf("scale_factor is %.40q and add_offset %.40q: want a finite number for each", scale, offset)
		}
	}
	switch v.Data.(type) {
	case []float64, []int64:
	default:
		return fmt.Errorf("it has scale_factor or add_offset, but its elements are %s and not numbers", v.DType())
	}
	x := slices.Clone(v.Floats())
	for i := range x {
		x[i] = x[i]*by + to
	}
	delete(v.Attrs, "scale_factor")
	delete(v.Attrs, "add_offset")
	v.Data = x
	return nil
}

// LeftOut is the attribute of a group that lists the arrays in its file which have elements of types that are not read.
const LeftOut = "left_out"

// Axis returns ArviZ's name for axis i of an array with unnamed axes.
func Axis(array string, i int) string { return fmt.Sprintf("%s_dim_%d", array, i) }

// Axes returns the names of all axes of an array with unnamed axes.
func Axes(array string, rank int) []string {
	dims := make([]string, rank)
	for i := range dims {
		dims[i] = Axis(array, i)
	}
	return dims
}

// Bools converts integers to the booleans that they store.
func Bools(ints []int64) []bool {
	out := make([]bool, len(ints))
	for i, x := range ints {
		out[i] = x != 0
	}
	return out
}

// Dims returns the set of dimensions of the arrays of a group.
func Dims(vars []tensor.Variable) map[string]bool {
	dims := map[string]bool{}
	for _, v := range vars {
		for _, d := range v.Dims {
			dims[d] = true
		}
	}
	return dims
}

// Dataset makes a dataset from the arrays of a group. Arrays that are named after a
// dimension or listed in labels become coordinates, the others variables. attrs may be
// nil.
func Dataset(name string, attrs map[string]string, vars []tensor.Variable, labels []string) (*tensor.Dataset, error) {
	d := tensor.NewDataset(name)
	if attrs != nil {
		d.Attrs = attrs
	}
	dims := Dims(vars)
	for _, v := range vars {
		add := d.AddVariable
		if dims[v.Name] || slices.Contains(labels, v.Name) {
			add = d.AddCoordVariable
		}
		if err := add(v); err != nil {
			return nil, err
		}
	}
	return d, nil
}
