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
	"slices"
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

// Packing returns the attribute that shows that numbers were packed into a smaller type,
// which is not supported; it is empty if there is none.
func Packing(has func(attribute string) bool) string {
	for _, key := range []string{"scale_factor", "add_offset"} {
		if has(key) {
			return key
		}
	}
	return ""
}

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
