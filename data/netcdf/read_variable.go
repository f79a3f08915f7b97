// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package netcdf

import (
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/xarray"
	"github.com/euryale-dev/euryale/tensor"
)

// variable reads a dataset and returns it with the coordinate names in its attributes.
// The variable is nil for a dimension without labels.
func (r *reader) variable(key string) (*tensor.Variable, []string, error) {
	d, err := r.f.Dataset(key)
	if err != nil {
		return nil, nil, err
	}
	about, err := d.Attrs()
	if err != nil {
		return nil, nil, err
	}
	named := map[string]*hdf5.Attribute{}
	for _, a := range about {
		named[a.Name] = a
	}
	isScale := false
	if name := named["NAME"]; named["CLASS"] != nil && name != nil {
		isScale = true
		if text, err := name.Text(); err == nil && strings.HasPrefix(text, noVariable) {
			return nil, nil, nil
		}
	}
	v := &tensor.Variable{Name: path.Base(key), Shape: d.Shape(), Attrs: texts(about)}
	labels := xarray.Labels(v.Attrs)
	isBool := v.Attrs["dtype"] == "bool"
	for k := range v.Attrs {
		if reserved[k] {
			delete(v.Attrs, k)
		}
	}
	if v.Dims, err = dimNames(v, named["DIMENSION_LIST"], isScale); err != nil {
		return nil, nil, err
	}
	if v.Data, err = r.elements(d, isBool); err != nil {
		return nil, nil, err
	}
	v.Data = withMissing(v.Data, named["_FillValue"])
	joined(v, d.Type())
	if err := xarray.Unpack(v); err != nil {
		return nil, nil, &FormatError{Format: "netcdf", Place: key, What: err.Error(), Try: "write it from xarray with decoded values"}
	}
	for i, n := range d.MaxShape() {
		if n < 0 && i < len(v.Dims) {
			r.grows[key] = append(r.grows[key], v.Dims[i])
		}
	}
	return v, labels, nil
}

// readable reports whether elements of a type are numbers, truth values or text.
func readable(t *hdf5.Type) bool {
	switch t.Class {
	case hdf5.Int, hdf5.Enum, hdf5.Float, hdf5.String:
		return true
	}
	return t.Class == hdf5.Vlen && t.IsString
}

// joined makes text of single characters along the last axis, as files without strings of variable length hold it. An axis that is the
// variable's own has letters for labels.
func joined(v *tensor.Variable, t *hdf5.Type) {
	if t.Class != hdf5.String || t.Size != 1 {
		return
	}
	joinCharacters(v)
}

func joinCharacters(v *tensor.Variable) {
	last := len(v.Shape) - 1
	if last < 0 || v.Dims[last] == v.Name {
		return
	}
	letters, n := v.Data.([]string), v.Shape[last]
	words := make([]string, v.Shape[:last].Size())
	for i := range words {
		words[i] = strings.TrimRight(strings.Join(letters[i*n:(i+1)*n], ""), "\x00 ")
	}
	v.Dims, v.Shape, v.Data = v.Dims[:last], v.Shape[:last], words
}

// dimNames names the axes after the attached dimension scales. A scale is named after
// itself, and axes without a scale are named as in ArviZ.
func dimNames(v *tensor.Variable, list *hdf5.Attribute, isScale bool) ([]string, error) {
	dims := xarray.Axes(v.Name, len(v.Shape))
	switch {
	case list != nil:
		refs, err := list.ReferenceLists()
		if err != nil {
			return nil, err
		}
		for i := range min(len(dims), len(refs)) {
			if len(refs[i]) > 0 && refs[i][0].Path != "" {
				dims[i] = path.Base(refs[i][0].Path)
			}
		}
	case isScale && len(dims) > 0: // a variable that is called as its first dimension
		dims[0] = v.Name
	}
	return dims, nil
}

// elements reads a dataset as one of the element types of a tensor.Variable. It subtracts
// the size in bytes from what may still be read.
func (r *reader) elements(d *hdf5.Dataset, isBool bool) (any, error) {
	if int64(d.Len()) > r.f.MaxBytes/16 {
		return nil, bad("", "it has %d elements, more than the size of the file allows: copy the file again", d.Len())
	}
	r.f.MaxBytes -= 16 * int64(d.Len())
	switch t := d.Type(); {
	case t.String() == "bool":
		return d.Bools()
	case t.Class == hdf5.Int && isBool:
		ints, err := d.Int64s()
		return xarray.Bools(ints), err
	case t.Class == hdf5.Int || t.Class == hdf5.Enum:
		return d.Int64s()
	case t.Class == hdf5.Float:
		return d.Float64s()
	case t.Class == hdf5.String || t.Class == hdf5.Vlen && t.IsString:
		words, err := d.Strings()
		for _, w := range words {
			r.f.MaxBytes -= int64(len(w))
		}
		return words, err
	default:
		return nil, &FormatError{Format: "netcdf", What: "it has elements of the type " + t.String() + ", which are not supported", Try: "store numbers, truth values or text"}
	}
}

// withMissing replaces numbers equal to the fill value by NaN. Integers become floats if
// any are replaced.
func withMissing(data any, fill *hdf5.Attribute) any {
	if fill == nil {
		return data
	}
	switch d := data.(type) {
	case []float64:
		missing, err := fill.Float64()
		for i, x := range d {
			if err == nil && x == missing {
				d[i] = math.NaN()
			}
		}
	case []int64:
		missing, err := fill.Int64()
		var out []float64
		for i, x := range d {
			if err != nil || x != missing {
				continue
			}
			if out == nil {
				out = tensor.Variable{Data: d}.Floats()
			}
			out[i] = math.NaN()
		}
		if out != nil {
			return out
		}
	}
	return data
}

// attrs reads the attributes of a group.
func (r *reader) attrs(key string) (map[string]string, error) {
	all, err := r.f.Attrs(key)
	if err != nil {
		return nil, err
	}
	out := texts(all)
	for k := range out {
		if reserved[k] && k != "coordinates" && k != orderAttr {
			delete(out, k)
		}
	}
	return out, nil
}

// texts returns attributes as text. Attributes that are neither text nor numbers are left
// out.
func texts(all []*hdf5.Attribute) map[string]string {
	out := map[string]string{}
	for _, a := range all {
		if a.Len() > 1<<16 {
			continue
		}
		if words, err := a.Strings(); err == nil {
			out[a.Name] = strings.Join(words, ", ")
			continue
		}
		var parts []string
		if ints, err := a.Int64s(); err == nil {
			for _, x := range ints {
				parts = append(parts, strconv.FormatInt(x, 10))
			}
		} else if floats, err := a.Float64s(); err == nil {
			for _, x := range floats {
				parts = append(parts, strconv.FormatFloat(x, 'g', -1, 64))
			}
		} else {
			continue
		}
		out[a.Name] = strings.Join(parts, ", ")
	}
	return out
}
