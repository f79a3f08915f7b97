// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/data/netcdf"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/tensor"
)

func init() {
	register("netCDF classic", form{rank: 1, fits: func(name string, head []byte, folder bool) bool {
		return bytes.HasPrefix(head, []byte("CDF"))
	}, open: func(name string, s Settings) (*content, error) { return fromTree(netcdf.Open(name)) }})
	register("Zarr", form{rank: 1, fits: func(name string, head []byte, folder bool) bool { return folder && zarr.Is(name) },
		open: func(name string, s Settings) (*content, error) { return fromTree(zarr.Open(name)) }})
	register("Zarr in a ZIP archive", form{rank: 2, fits: func(name string, head []byte, folder bool) bool {
		return bytes.HasPrefix(head, []byte("PK\x03\x04")) && strings.Contains(strings.ToLower(name), ".zarr")
	}, open: openZippedZarr})
}

func openZippedZarr(name string, s Settings) (*content, error) {
	z, err := zip.OpenReader(name)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return fromTree(zarr.Read(z))
}

// fromTree takes the variables of all groups.
func fromTree(t *tensor.DataTree, err error) (*content, error) {
	if err != nil {
		return nil, err
	}
	c := &content{attrs: map[string]string{}, units: map[string]string{}}
	for k, v := range t.Attrs {
		c.attrs[k] = v
	}
	for _, g := range t.Groups() {
		for k, v := range g.Attrs {
			c.attrs[k] = v
		}
		for _, v := range append(g.Coords(), g.Vars()...) {
			if x := variableOf(v); x != nil {
				if n := v.Attrs[zarr.MissingChunks]; n != "" {
					c.notes = append(c.notes, fmt.Sprintf("%s chunks of %s are not in the store, and their numbers are the fill value: was all of it copied?", n, v.Name))
				}
				c.vars = append(c.vars, x)
			}
		}
	}
	return c, nil
}

// variableOf takes a variable of numbers, which are converted one block after another.
func variableOf(v tensor.Variable) *variable {
	convert := func(lo, hi int) []float64 { return nil }
	out := &variable{name: v.Name, dims: v.Dims, shape: v.Shape, attrs: map[string]string{}}
	for k, x := range v.Attrs {
		out.attrs[k] = x
	}
	switch x := v.Data.(type) {
	case []float64:
		convert = func(lo, hi int) []float64 { return x[lo:hi] }
	case []int64:
		out.whole = true
		convert = func(lo, hi int) []float64 { return tensor.Variable{Data: x[lo:hi]}.Floats() }
	case []bool:
		out.whole = true
		convert = func(lo, hi int) []float64 { return tensor.Variable{Data: x[lo:hi]}.Floats() }
	default:
		return nil
	}
	out.blocks = func(need func(offset, shape []int) bool, visit func(offset, shape []int, x []float64) error) error {
		if len(v.Shape) == 0 {
			return visit(nil, nil, convert(0, 1))
		}
		if v.Shape.Size() == 0 {
			return nil
		}
		each := v.Shape.Size() / v.Shape[0]
		step := max(1, blockNumbers/each)
		for first := 0; first < v.Shape[0]; first += step {
			offset, n := make([]int, len(v.Shape)), append([]int(nil), v.Shape...)
			offset[0], n[0] = first, min(step, v.Shape[0]-first)
			if !need(offset, n) {
				continue
			}
			if err := visit(offset, n, convert(first*each, (first+n[0])*each)); err != nil {
				return err
			}
		}
		return nil
	}
	return out
}
