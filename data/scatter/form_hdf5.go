// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"bytes"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
)

func init() {
	register("HDF5", form{rank: 1, fits: func(name string, head []byte, folder bool) bool {
		return bytes.HasPrefix(head, []byte("\x89HDF\r\n\x1a\n"))
	}, open: openHDF5})
}

// openHDF5 reads netCDF-4, NeXus and plain HDF5: the arrays of the group that has the pattern, their attributes, and those of the detector.
func openHDF5(name string, s Settings) (*content, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, err
	}
	c := &content{attrs: map[string]string{}, units: map[string]string{}, close: f.Close}
	if err := c.fromHDF5(f); err != nil {
		f.Close()
		return nil, err
	}
	return c, nil
}

func (c *content) fromHDF5(f *hdf5.File) error {
	c.take(f, "/")
	return f.Walk(func(key string, group bool) error {
		if group {
			c.take(f, key)
			return nil
		}
		d, err := f.Dataset(key)
		if err != nil {
			return err
		}
		if strings.HasPrefix(key, "/entry/attrs/") || len(d.Shape()) == 0 {
			c.attribute(f, key, d)
			return nil
		}
		if t := d.Type(); t.Class != hdf5.Int && t.Class != hdf5.Float && t.Class != hdf5.Enum {
			return nil
		}
		if a, err := d.Attrs(); err == nil {
			for _, x := range a {
				if text, err := x.Text(); err == nil && x.Name == "NAME" && strings.HasPrefix(text, "This is a netCDF dimension but not a netCDF variable") {
					return nil
				}
			}
		}
		c.vars = append(c.vars, arrayOf(f, key, d))
		return nil
	})
}

// take adds the attributes of a group.
func (c *content) take(f *hdf5.File, key string) {
	all, err := f.Attrs(key)
	if err != nil {
		return
	}
	for _, a := range all {
		if text, ok := textOf(&a.Array); ok {
			c.attrs[a.Name] = text
		}
	}
}

// attribute takes a dataset as an attribute: one without axes, or one of those that PyHyperScattering writes as such.
func (c *content) attribute(f *hdf5.File, key string, d *hdf5.Dataset) {
	text, ok := textOf(&d.Array)
	if !ok {
		return
	}
	c.attrs[path.Base(key)] = text
	if u, err := f.Attr(key, "units"); err == nil {
		if unit, err := u.Text(); err == nil {
			c.units[path.Base(key)] = unit
		}
	}
}

// textOf returns short attributes as text, numbers with commas between them.
func textOf(a *hdf5.Array) (string, bool) {
	if a.Len() > 1<<16 {
		return "", false
	}
	if words, err := a.Strings(); err == nil {
		return strings.Join(words, ", "), true
	}
	x, err := a.Float64s()
	if err != nil {
		return "", false
	}
	var parts []string
	for _, v := range x {
		parts = append(parts, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return strings.Join(parts, ", "), true
}

// arrayOf makes a variable of a dataset. Axes are named by dimension scales, by the attributes of saveNexus, or by the rank.
func arrayOf(f *hdf5.File, key string, d *hdf5.Dataset) *variable {
	v := &variable{name: strings.TrimPrefix(key, "/"), shape: d.Shape(), attrs: map[string]string{}, whole: d.Type().Class != hdf5.Float}
	if i := strings.LastIndex(v.name, "/"); i >= 0 {
		v.name = v.name[i+1:]
	}
	all, _ := d.Attrs()
	for _, a := range all {
		if a.Name == "DIMENSION_LIST" {
			v.dims = scales(a, len(v.shape))
		} else if text, ok := textOf(&a.Array); ok {
			v.attrs[a.Name] = text
		}
	}
	if v.dims == nil && v.attrs["CLASS"] == "DIMENSION_SCALE" && len(v.shape) == 1 {
		v.dims = []string{v.name}
	}
	if v.dims == nil {
		v.dims, v.unnamed = axesOf(f, key, v)
	}
	v.blocks = func(need func(offset, shape []int) bool, visit func(offset, shape []int, x []float64) error) error {
		return blocks(d, need, func(offset, shape []int, x []float64) error { return visit(offset, shape, withMissing(x, v.attrs)) })
	}
	return v
}

// withMissing makes numbers that stand for missing ones NaN, and unpacks those that were packed into a smaller type, as xarray does.
func withMissing(x []float64, attrs map[string]string) []float64 {
	one := func(key string, usual float64) float64 {
		if v := numbersOf(attrs[key]); len(v) == 1 {
			return v[0]
		}
		return usual
	}
	fill, scale, offset := one("_FillValue", math.NaN()), one("scale_factor", 1), one("add_offset", 0)
	for i, v := range x {
		if v == fill {
			x[i] = math.NaN()
		} else if scale != 1 || offset != 0 {
			x[i] = float64(v*scale) + offset
		}
	}
	return x
}

func scales(a *hdf5.Attribute, rank int) []string {
	refs, err := a.ReferenceLists()
	if err != nil || len(refs) != rank {
		return nil
	}
	var out []string
	for _, r := range refs {
		if len(r) == 0 || r[0].Path == "" {
			return nil
		}
		out = append(out, path.Base(r[0].Path))
	}
	return out
}

// axesOf names the axes of a dataset without scales, and says whether that is a guess.
func axesOf(f *hdf5.File, key string, v *variable) (dims []string, guessed bool) {
	group := path.Dir(key)
	if origin := v.attrs["PyHyper_origin"]; origin != "" && len(v.shape) == 1 {
		return []string{origin}, false
	}
	for _, name := range []string{"I_axes", "axes"} {
		if a, err := f.Attr(group, name); err == nil && len(v.shape) > 1 {
			if words, err := a.Strings(); err == nil {
				if dims := namedAxes(strings.Join(words, ",")); len(dims) == len(v.shape) {
					return dims, false
				}
			}
		}
	}
	if len(v.shape) == 1 {
		return []string{v.name}, false
	}
	return byRank(len(v.shape)), true
}

// namedAxes reads a list such as [system(energy;exposure),pix_y,pix_x].
func namedAxes(list string) (out []string) {
	for part := range strings.SplitSeq(strings.Trim(list, "[] "), ",") {
		part, _, _ = strings.Cut(part, "(")
		out = append(out, strings.TrimSpace(part))
	}
	return out
}

// byRank names the axes of images whose axes have no names.
func byRank(rank int) []string {
	switch rank {
	case 2:
		return []string{"pix_y", "pix_x"}
	case 3:
		return []string{"system", "pix_y", "pix_x"}
	case 4:
		return []string{"energy", "polarization", "pix_y", "pix_x"}
	case 5:
		return []string{"energy", "polarization", "exposure", "pix_y", "pix_x"}
	}
	out := make([]string, rank)
	for i := range out {
		out[i] = "axis" + strconv.Itoa(i+1)
	}
	return out
}

// blockNumbers is the number of elements that are read at once, if the chunks of the file allow it.
const blockNumbers = 1 << 21

// blocks reads a dataset in slabs along the axis that is cut into most chunks.
func blocks(d *hdf5.Dataset, need func(offset, shape []int) bool, visit func(offset, shape []int, x []float64) error) error {
	shape, chunks := d.Shape(), d.Chunks()
	if size(shape) == 0 {
		return nil
	}
	axis, step := 0, 1
	if chunks != nil {
		most := 0
		for i := range shape {
			if n := (shape[i] + chunks[i] - 1) / chunks[i]; n > most {
				axis, step, most = i, chunks[i], n
			}
		}
	}
	each := size(shape) / shape[axis]
	step *= max(1, blockNumbers/(each*step))
	for first := 0; first < shape[axis]; first += step {
		offset, n := make([]int, len(shape)), slices.Clone(shape)
		offset[axis], n[axis] = first, min(step, shape[axis]-first)
		if !need(offset, n) {
			continue
		}
		x, err := d.Slab(offset, n).Float64s()
		if err != nil {
			return err
		}
		if err := visit(offset, n, x); err != nil {
			return err
		}
	}
	return nil
}
