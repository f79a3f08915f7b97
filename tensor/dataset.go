// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Dataset is a set of variables that share dimensions, like xarray's Dataset: two variables with an
// axis of the same name have the same length along it. Variables are added one by one and keep their
// order; one that does not fit is refused.
//
//	d := tensor.NewDataset("posterior")
//	err := d.AddCoord("school", []string{"Choate", "Deerfield"})
//	err = d.Add("theta", draws, tensor.Shape{4, 1000, 2}, "chain", "draw", "school")
//
// A coordinate holds the labels along the dimension it is named after; it may
// also be another array that only describes the variables.
type Dataset struct {
	// Name is the name of the group within a tree, such as posterior.
	Name string
	// Attrs holds attributes, such as inference_library. It may be nil.
	Attrs map[string]string

	vars, coords []Variable
	place        map[string]int // index of each name in vars, or in coords counted from -1 downwards
	dims         []string       // names of the dimensions, in the order they were added
	length       map[string]int // length of each dimension
	owner        map[string]string
}

// NewDataset returns an empty dataset.
func NewDataset(name string) *Dataset {
	return &Dataset{Name: name, Attrs: map[string]string{}}
}

// Add appends a variable. The data are a slice of float64, int64, bool or string in row-major order,
// or of int. If they do not fit, Add returns an error and adds nothing.
func (d *Dataset) Add(name string, data any, shape Shape, dims ...string) error {
	return d.AddVariable(Variable{Name: name, Data: data, Shape: shape, Dims: dims})
}

// AddVariable appends a variable. If it does not fit, AddVariable returns an error and adds nothing.
func (d *Dataset) AddVariable(v Variable) error {
	v, err := d.fitting(v)
	if err != nil {
		return err
	}
	if _, taken := d.length[v.Name]; taken || slices.Contains(v.Dims, v.Name) {
		return d.fault(v.Name, "a dimension already has this name: rename one of the two, or use AddCoord to add its labels")
	}
	d.keep(v, len(d.vars))
	d.vars = append(d.vars, v)
	return nil
}

// AddCoord appends labels along the dimension of the same name. If they do not fit, AddCoord returns
// an error and adds nothing.
func (d *Dataset) AddCoord(dim string, labels any) error {
	v := Variable{Name: dim, Dims: []string{dim}, Data: labels}
	v.Data = widened(labels)
	v.Shape = Shape{v.Len()}
	return d.AddCoordVariable(v)
}

// AddCoordVariable appends a coordinate with any axes. A coordinate that is named like a dimension
// must have that dimension as its only axis. If it does not fit, AddCoordVariable returns an error
// and adds nothing.
func (d *Dataset) AddCoordVariable(v Variable) error {
	v, err := d.fitting(v)
	if err != nil {
		return err
	}
	if _, isDim := d.length[v.Name]; (isDim || slices.Contains(v.Dims, v.Name)) && !slices.Equal(v.Dims, []string{v.Name}) {
		return d.fault(v.Name, fmt.Sprintf("labels of a dimension with the axes %v: want this dimension only", v.Dims))
	}
	d.keep(v, -1-len(d.coords))
	d.coords = append(d.coords, v)
	return nil
}

// keep records the name and dimensions of a variable that fits.
func (d *Dataset) keep(v Variable, place int) {
	if d.place == nil {
		d.place, d.length, d.owner = map[string]int{}, map[string]int{}, map[string]string{}
	}
	d.place[v.Name] = place
	for i, dim := range v.Dims {
		if _, known := d.length[dim]; !known {
			d.dims = append(d.dims, dim)
			d.length[dim], d.owner[dim] = v.Shape[i], v.Name
		}
	}
}

// fitting returns v with its own copies of names and lengths if it is complete and agrees with the
// names and lengths of the dataset.
func (d *Dataset) fitting(v Variable) (Variable, error) {
	v.Data, v.Shape, v.Dims = widened(v.Data), v.Shape.Clone(), slices.Clone(v.Dims)
	_, taken := d.place[v.Name]
	switch {
	case !plain(v.Name):
		return v, d.fault(v.Name, "files cannot store this name: use a word without /")
	case taken:
		return v, d.fault(v.Name, "the dataset already has a variable of this name: give each a name of its own")
	case v.DType() == "":
		return v, d.fault(v.Name, fmt.Sprintf("the data are %T: want []float64, []int64, []int, []bool or []string", v.Data))
	case len(v.Dims) != len(v.Shape):
		return v, d.fault(v.Name, fmt.Sprintf("the dimensions are %v, but the shape is %v: give one name for each axis", v.Dims, []int(v.Shape)))
	case !v.Shape.Valid() || v.Shape.Size() != v.Len():
		return v, d.fault(v.Name, fmt.Sprintf("the data have %d elements, but the shape is %v: want %s", v.Len(), []int(v.Shape), sizeText(v.Shape)))
	}
	for i, dim := range v.Dims {
		n, known := d.length[dim]
		switch {
		case !plain(dim):
			return v, d.fault(v.Name, fmt.Sprintf("files cannot store a dimension named %q: use a word without /", dim))
		case slices.Contains(v.Dims[:i], dim):
			return v, d.fault(v.Name, fmt.Sprintf("dimension %s appears twice in %v: rename one of them", dim, v.Dims))
		case known && n != v.Shape[i]:
			return v, d.fault(v.Name, fmt.Sprintf("dimension %s has length %d here and %d in %s: make the lengths equal, or give it another name", dim, v.Shape[i], n, d.owner[dim]))
		}
		if at, named := d.place[dim]; named && (at >= 0 || !slices.Equal(d.coords[-1-at].Dims, []string{dim})) {
			return v, d.fault(v.Name, fmt.Sprintf("dimension %s has the name of a variable: rename one of the two", dim))
		}
	}
	return v, nil
}

// plain reports whether files can store a name.
func plain(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r < ' ' })
}

func widened(data any) any {
	if ints, ok := data.([]int); ok {
		return widen(ints)
	}
	return data
}

func sizeText(s Shape) string {
	if !s.Valid() {
		return "lengths of at least 0 whose product fits memory"
	}
	return fmt.Sprint(s.Size())
}

func (d *Dataset) fault(variable, what string) error {
	return fmt.Errorf("tensor: dataset %q, variable %q: %s", d.Name, variable, what)
}

// Vars returns the variables in order; do not change the slice.
func (d *Dataset) Vars() []Variable { return d.vars }

// Coords returns the coordinates in order; do not change the slice.
func (d *Dataset) Coords() []Variable { return d.coords }

// Var returns the variable with the given name, or nil if there is none.
func (d *Dataset) Var(name string) *Variable {
	if i, ok := d.place[name]; ok && i >= 0 {
		return &d.vars[i]
	}
	return nil
}

// Coord returns the coordinate with the given name, or nil if there is none.
func (d *Dataset) Coord(name string) *Variable {
	if i, ok := d.place[name]; ok && i < 0 {
		return &d.coords[-1-i]
	}
	return nil
}

// Dims returns the names of all dimensions in the order in which they were added.
func (d *Dataset) Dims() []string { return d.dims }

// Len returns the length of a dimension, or -1 if there is no dimension of this name.
func (d *Dataset) Len(dim string) int {
	if n, ok := d.length[dim]; ok {
		return n
	}
	return -1
}

// Elements returns the total number of elements in all variables.
func (d *Dataset) Elements() int {
	n := 0
	for _, v := range d.vars {
		n = min(n, math.MaxInt-v.Len()) + v.Len()
	}
	return n
}
