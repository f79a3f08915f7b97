// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"strings"
)

// Draws splits the numeric variables that begin with the axes chain and draw into their elements:
// one name and one x[i][chain][draw] for each. An element of theta(chain, draw, school) is called
// theta[Choate] by the school's label, or theta[0] if there is no label. Variables without these
// axes are left out. The result shares no memory with the dataset.
func (d *Dataset) Draws() (names []string, x [][][]float64) {
	for _, v := range d.vars {
		flat := v.Floats()
		if flat == nil || !v.leads("chain", "draw") {
			continue
		}
		chains, draws := v.Shape[0], v.Shape[1]
		rest := v.Shape[2:].Size()
		for k, name := range d.elements(v) {
			names, x = append(names, name), append(x, strided(flat, chains, draws, rest, k))
		}
	}
	return names, x
}

// Stat returns the numbers [chain][draw] of a variable with exactly these axes,
// or nil.
func (d *Dataset) Stat(name string) [][]float64 {
	v := d.Var(name)
	if v == nil || len(v.Dims) != 2 || !v.leads("chain", "draw") {
		return nil
	}
	flat := v.Floats()
	if flat == nil {
		return nil
	}
	return strided(flat, v.Shape[0], v.Shape[1], 1, 0)
}

// strided copies element k of the rest elements of every draw.
func strided(flat []float64, chains, draws, rest, k int) [][]float64 {
	out := make([][]float64, chains)
	for c := range out {
		out[c] = make([]float64, draws)
		for i := range out[c] {
			out[c][i] = flat[(c*draws+i)*rest+k]
		}
	}
	return out
}

// elements names the element at each place of the axes after chain and draw.
func (d *Dataset) elements(v Variable) []string {
	dims, shape := v.Dims[2:], v.Shape[2:]
	if len(dims) == 0 {
		return []string{v.Name}
	}
	out := make([]string, shape.Size())
	idx := make([]int, len(shape))
	parts := make([]string, len(shape))
	for k := range out {
		for a, dim := range dims {
			parts[a] = d.label(dim, idx[a])
		}
		out[k] = fmt.Sprintf("%s[%s]", v.Name, strings.Join(parts, ", "))
		for a := len(idx) - 1; a >= 0; a-- {
			if idx[a]++; idx[a] < shape[a] {
				break
			}
			idx[a] = 0
		}
	}
	return out
}

// label returns the label at a place along a dimension.
func (d *Dataset) label(dim string, i int) string {
	if c := d.Coord(dim); c != nil {
		return c.Text(i)
	}
	return fmt.Sprint(i)
}
