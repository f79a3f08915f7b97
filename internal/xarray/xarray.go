// Package xarray holds the conventions by which xarray and ArviZ keep labelled arrays in
// files, whatever the format: which arrays of a group are labels, what axes without names
// are called, how truth values are stored.
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

// coordinates is the attribute that lists the labels that are no dimension.
const coordinates = "coordinates"

// Labels takes the list of labels out of the attributes of a group or an array.
func Labels(attrs map[string]string) []string {
	list := strings.Fields(attrs[coordinates])
	delete(attrs, coordinates)
	return list
}

// Packing returns the attribute by which numbers were packed into smaller ones, which is
// not undone; it is empty where there is none.
func Packing(has func(attribute string) bool) string {
	for _, key := range []string{"scale_factor", "add_offset"} {
		if has(key) {
			return key
		}
	}
	return ""
}

// Axis names the axis i of an array that has no names for its axes, as ArviZ does.
func Axis(array string, i int) string { return fmt.Sprintf("%s_dim_%d", array, i) }

// Axes names all axes of an array that has no names for them.
func Axes(array string, rank int) []string {
	dims := make([]string, rank)
	for i := range dims {
		dims[i] = Axis(array, i)
	}
	return dims
}

// Bools returns truth values that were stored as integers.
func Bools(ints []int64) []bool {
	out := make([]bool, len(ints))
	for i, x := range ints {
		out[i] = x != 0
	}
	return out
}

// Dims returns the dimensions of the arrays of a group.
func Dims(vars []tensor.Variable) map[string]bool {
	dims := map[string]bool{}
	for _, v := range vars {
		for _, d := range v.Dims {
			dims[d] = true
		}
	}
	return dims
}

// Dataset makes a dataset of the arrays of a group. Those that have the name of a
// dimension or are among the labels are coordinates, the others variables. Attributes may
// be nil.
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
