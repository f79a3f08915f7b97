// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// content is what a reader of a form finds in a file: arrays with named axes, and attributes as text.
type content struct {
	name, form string
	vars       []*variable
	attrs      map[string]string
	units      map[string]string // of attributes, where the file says them
	notes      []string
	pedestal   float64 // that files of the form usually have
	// rowsAreX says that the axis called pix_x is that of the rows.
	rowsAreX bool
	// rates says that something was taken off the counts, so that they are no counts.
	rates bool
	close func() error
}

// variable is an array of numbers with named axes.
type variable struct {
	name  string
	dims  []string
	shape []int
	attrs map[string]string
	whole bool // stored as integers
	// unnamed says that the axes have the names of a guess by their number.
	unnamed bool
	// blocks visits parts of the array, in C order each, but those that are not needed.
	blocks func(need func(offset, shape []int) bool, visit func(offset, shape []int, x []float64) error) error
}

// inMemory is a variable whose numbers are there.
func inMemory(name string, dims []string, shape []int, whole bool, x []float64) *variable {
	v := &variable{name: name, dims: dims, shape: shape, attrs: map[string]string{}, whole: whole}
	v.blocks = func(need func(offset, shape []int) bool, visit func(offset, shape []int, x []float64) error) error {
		return visit(make([]int, len(shape)), shape, x)
	}
	return v
}

// values returns all numbers of a small variable.
func (v *variable) values() ([]float64, error) {
	const most = 1 << 27 // more than any detector has pixels
	if n := size(v.shape); n < 0 || n > most {
		return nil, fmt.Errorf("the array %s has the shape %v: want at most %d numbers in one that is no pattern", v.name, v.shape, most)
	}
	out := make([]float64, size(v.shape))
	strides := stridesOf(v.shape)
	err := v.blocks(func(offset, shape []int) bool { return true }, func(offset, shape []int, x []float64) error {
		walk(offset, shape, strides, func(i, at int) { out[at] = x[i] })
		return nil
	})
	return out, err
}

// nameAxes names the axes of arrays that have no names for them after arrays of one axis and the same length.
func (c *content) nameAxes() {
	var lists []*variable
	for _, v := range c.vars {
		if len(v.shape) == 1 {
			lists = append(lists, v)
		}
	}
	match := func(n int, wanted ...role) string {
		for _, v := range lists {
			if v.shape[0] == n && slices.Contains(wanted, roleOf(v.name)) {
				return v.name
			}
		}
		return ""
	}
	for _, v := range c.vars {
		rank := len(v.shape)
		if !v.unnamed || rank < 2 {
			continue
		}
		if q := match(v.shape[rank-1], qAxis); q != "" {
			v.dims = slices.Repeat([]string{"energy"}, rank)
			v.dims[rank-1] = q
			if chi := match(v.shape[rank-2], chiAxis); chi != "" {
				v.dims[rank-2] = chi
			}
		} else if qx, qy := match(v.shape[rank-1], qxAxis), match(v.shape[rank-2], qyAxis); qx != "" && qy != "" {
			v.dims[rank-1], v.dims[rank-2] = qx, qy
		}
		if v.dims[0] != "system" {
			continue
		}
		for _, l := range lists { // any number of lists may go with one axis of frames
			if l.shape[0] == v.shape[0] && (isNamed(l, sideNames) || slices.Contains([]role{energy, polarization, exposure}, roleOf(l.name))) {
				l.dims = []string{"system"}
			}
		}
	}
}

func size(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

func stridesOf(shape []int) []int {
	out, n := make([]int, len(shape)), 1
	for i := len(shape) - 1; i >= 0; i-- {
		out[i] = n
		n *= shape[i]
	}
	return out
}

// walk calls f for every element of a block with its number in the block, and with the sum of its indices in the array times strides.
func walk(offset, shape, strides []int, f func(i, at int)) {
	index, at := make([]int, len(shape)), 0
	for k, o := range offset {
		at += o * strides[k]
	}
	for i := range size(shape) {
		f(i, at)
		for k := len(shape) - 1; k >= 0; k-- {
			index[k]++
			at += strides[k]
			if index[k] < shape[k] {
				break
			}
			at -= index[k] * strides[k]
			index[k] = 0
		}
	}
}

// find returns the first variable with one of some names, in any case.
func (c *content) find(names ...string) *variable {
	for _, n := range names {
		if i := slices.IndexFunc(c.vars, func(v *variable) bool { return strings.EqualFold(v.name, n) }); i >= 0 {
			return c.vars[i]
		}
	}
	return nil
}

// text returns an attribute in any case of its name.
func (c *content) text(key string) (string, bool) {
	if t, ok := c.attrs[key]; ok {
		return t, true
	}
	for k, t := range c.attrs {
		if strings.EqualFold(k, key) {
			return t, true
		}
	}
	return "", false
}

// numbers returns an attribute as numbers: one, several with commas between them, or as JSON.
func (c *content) numbers(key string) []float64 {
	t, ok := c.text(key)
	if !ok {
		return nil
	}
	return numbersOf(t)
}

func numbersOf(text string) (out []float64) {
	var list []float64
	if json.Unmarshal([]byte(text), &list) == nil {
		return list
	}
	for part := range strings.SplitSeq(strings.Trim(text, "[]() \""), ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return nil
		}
		out = append(out, x)
	}
	return out
}

// number returns an attribute that is one number, or the value of a variable of no axes.
func (c *content) number(key string) (float64, bool) {
	if x := c.numbers(key); len(x) == 1 {
		return x[0], true
	}
	if v := c.find(key); v != nil && size(v.shape) == 1 {
		if x, err := v.values(); err == nil {
			if u := v.attrs["units"]; u != "" {
				c.units[key] = u
			}
			return x[0], true
		}
	}
	return 0, false
}
