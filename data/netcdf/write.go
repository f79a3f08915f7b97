// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package netcdf

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/tensor"
)

// Settings control how a file is written. The zero value is the default.
type Settings struct {
	Gzip int // gzip level from 1 (fast) to 9 (small). Default 0, no compression
	// Overwrite replaces an existing file.
	Overwrite bool
}

// Write writes a tree to a file under a temporary name and then renames it.
func Write(name string, t *tensor.DataTree, s Settings) error {
	return write(name, t.Attrs, t.Groups(), s)
}

// WriteDataset writes a dataset without groups, as xarray.open_dataset reads it, under a temporary name and then renames the file.
func WriteDataset(name string, d *tensor.Dataset, s Settings) error {
	root := *d
	root.Name = ""
	return write(name, nil, []*tensor.Dataset{&root}, s)
}

func write(name string, attrs map[string]string, groups []*tensor.Dataset, s Settings) error {
	if s.Gzip < 0 || s.Gzip > 9 {
		return fmt.Errorf("netcdf: Settings.Gzip is %d: want 0 to 9", s.Gzip)
	}
	if _, err := os.Lstat(name); err == nil && !s.Overwrite {
		return fmt.Errorf("netcdf: %w: choose another name, or set Overwrite", &fs.PathError{Op: "write", Path: name, Err: fs.ErrExist})
	}
	w, err := hdf5.Create(name)
	if err != nil {
		return fmt.Errorf("netcdf: %w", err)
	}
	defer w.Discard()
	// The writer keeps its first error, which Close returns.
	attributes(w, "/", attrs)
	for _, d := range groups {
		group(w, d, s)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("netcdf: %w", err)
	}
	return nil
}

// noVariable starts the NAME attribute by which netCDF marks a dimension without labels.
// The length follows in ten characters.
const noVariable = "This is a netCDF dimension but not a netCDF variable."

func group(w *hdf5.Writer, d *tensor.Dataset, s Settings) {
	root, place := "", "/" // of a dataset without groups
	if d.Name != "" {
		root, place = "/"+d.Name, "/"+d.Name
		w.Group(root)
	}
	attributes(w, place, d.Attrs)
	for _, dim := range d.Dims() {
		key := root + "/" + dim
		if c := d.Coord(dim); c != nil {
			variable(w, key, *c, Settings{})
			w.Scale(key, dim)
			continue
		}
		w.Write(key, make([]float32, d.Len(dim)), hdf5.Layout{})
		w.Scale(key, fmt.Sprintf("%s%10d", noVariable, d.Len(dim)))
	}
	var labels []string
	for _, v := range slices.Concat(d.Coords(), d.Vars()) {
		if d.Len(v.Name) >= 0 {
			continue // the variable is a dimension scale
		}
		key := root + "/" + v.Name
		variable(w, key, v, s)
		for i, dim := range v.Dims {
			w.Attach(key, i, root+"/"+dim)
		}
		if d.Coord(v.Name) != nil {
			labels = append(labels, v.Name)
		}
	}
	if len(labels) > 0 {
		w.Attr(place, "coordinates", strings.Join(labels, " "))
	}
	if order := orderOf(d); order != "" {
		w.Attr(place, orderAttr, order)
	}
}

// orderAttr names the attribute of a group with the names of its variables in order, as a JSON list. HDF5 lists
// the members of a group by name.
const orderAttr = "variable_order"

// longestOrder is the largest number of bytes of that attribute. HDF5 allows 64 KiB for all of an object.
const longestOrder = 16 << 10

// orderOf returns the content of the attribute. It is empty if the names are sorted, or too many.
func orderOf(d *tensor.Dataset) string {
	var names []string
	for _, v := range d.Vars() {
		names = append(names, v.Name)
	}
	text, err := json.Marshal(names)
	if err != nil || len(text) > longestOrder || slices.IsSorted(names) {
		return ""
	}
	return string(text)
}

// variable writes the elements and attributes of a variable.
func variable(w *hdf5.Writer, key string, v tensor.Variable, s Settings) {
	layout := hdf5.Layout{Shape: append([]int{}, v.Shape...), Gzip: s.Gzip, Shuffle: s.Gzip > 0, Fletcher32: true}
	data := v.Data
	if flags, ok := data.([]bool); ok {
		bytes := make([]int8, len(flags))
		for i, f := range flags {
			if f {
				bytes[i] = 1
			}
		}
		data = bytes
	}
	if _, ok := data.([]string); ok || len(v.Shape) == 0 {
		layout.Gzip, layout.Shuffle, layout.Fletcher32 = 0, false, false // addresses of text do not compress, and scalars have no chunks
	}
	w.Write(key, data, layout)
	attributes(w, key, v.Attrs)
	if v.DType() == "bool" {
		w.Attr(key, "dtype", "bool")
	}
}

func attributes(w *hdf5.Writer, key string, attrs map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(attrs)) {
		if !reserved[k] {
			w.Attr(key, k, attrs[k])
		}
	}
}

// reserved lists the attributes that netCDF and xarray use to describe the layout.
var reserved = map[string]bool{"CLASS": true, "NAME": true, "DIMENSION_LIST": true, "REFERENCE_LIST": true, "_Netcdf4Dimid": true, "_Netcdf4Coordinates": true,
	"_nc3_strict": true, "_NCProperties": true, "_FillValue": true, orderAttr: true, "missing_value": true, "coordinates": true, "dtype": true, "_NCCOPY": true}
