// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rvspecfit

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor"
)

// Dict is a Python dictionary as rvspecfit stores it in HDF5. Values are nil, bool, int64, float64,
// string, Dict, *Array and *List.
type Dict map[string]any

// Array is an array, or a list or tuple of equal elements that is stored as one.
type Array struct {
	As      string         // Python type: ndarray, list or tuple
	Numbers *tensor.Tensor // numbers or truth values; nil for strings
	Strings []string
}

// List is a list or tuple of unlike elements.
type List struct {
	Tuple bool
	Items []any
}

const dictVersion = 1

// ReadDict reads a file of dictionaries.
func ReadDict(name string) (Dict, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	v, err := f.Attr("/", "version")
	if err != nil {
		return nil, &FormatError{Format: "rvspecfit", File: name, What: "the file has no attribute version, so rvspecfit did not write it", Err: err, Try: "give a file that rvspecfit wrote"}
	}
	if n, err := v.Int64(); err != nil || n != dictVersion {
		return nil, bad(name, "", "the format has version %d, but this program reads version %d: write the file again with a matching rvspecfit", n, dictVersion)
	}
	root, err := f.Group("/")
	if err != nil {
		return nil, err
	}
	return readGroup(name, root, 0)
}

func readGroup(file string, g *hdf5.Group, depth int) (Dict, error) {
	if depth > 50 {
		return nil, bad(file, g.Path(), "groups are nested more than 50 levels deep: give a file that rvspecfit wrote")
	}
	keys, err := g.Keys()
	if err != nil {
		return nil, err
	}
	out := Dict{}
	for _, key := range keys {
		if sub, err := g.Group(key); err == nil {
			if out[key], err = readSub(file, sub, depth); err != nil {
				return nil, err
			}
			continue
		}
		d, err := g.Dataset(key)
		if err != nil {
			return nil, err
		}
		if out[key], err = readValue(file, d); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readSub reads a group: a dictionary, or a list whose items are __item_0 and so on.
func readSub(file string, g *hdf5.Group, depth int) (any, error) {
	d, err := readGroup(file, g, depth+1)
	if err != nil {
		return nil, err
	}
	attr, err := g.Attr("type")
	if err != nil {
		return d, nil
	}
	kind, err := attr.Text()
	if err != nil || kind != "flattened_list" && kind != "flattened_tuple" {
		return nil, bad(file, g.Path(), "the attribute type of the group is %q: want flattened_list or flattened_tuple", kind)
	}
	l := &List{Tuple: kind == "flattened_tuple", Items: make([]any, len(d))}
	for i := range l.Items {
		v, ok := d[fmt.Sprintf("__item_%d", i)]
		if !ok {
			return nil, bad(file, g.Path(), "the list of %d items lacks the item __item_%d: make the file again with rvspecfit", len(d), i)
		}
		l.Items[i] = v
	}
	return l, nil
}

func readValue(file string, d *hdf5.Dataset) (any, error) {
	attrs, err := d.Attrs()
	if err != nil {
		return nil, err
	}
	kind := ""
	for _, a := range attrs {
		if a.Name == "type" {
			if kind, err = a.Text(); err != nil {
				return nil, err
			}
		}
	}
	switch kind {
	case "None":
		return nil, nil
	case "str":
		s, err := d.Text()
		return s, err
	case "scalar":
		return readScalar(d)
	case "empty_array":
		return &Array{As: "list", Numbers: tensor.New(tensor.Float64, 0)}, nil
	case "ndarray", "list", "tuple":
		return readArray(d, kind)
	case "pickle":
		return Pickle(d.Len()), nil
	}
	return nil, bad(file, d.Path(), "the attribute type of the dataset is %q: want ndarray, list, tuple, str, scalar, None, empty_array or pickle", kind)
}

// Pickle stands for a pickled Python object, which is not read. Its value is the size in bytes.
type Pickle int

func readScalar(d *hdf5.Dataset) (any, error) {
	switch d.Type().Class {
	case hdf5.Enum:
		b, err := d.Bools()
		if err != nil || len(b) != 1 {
			return nil, bad("", d.Path(), "the dataset is stored as a truth value, but does not hold exactly one: make the file again with rvspecfit")
		}
		return b[0], nil
	case hdf5.Int:
		n, err := d.Int64()
		return n, err
	case hdf5.Float:
		x, err := d.Float64()
		return x, err
	}
	s, err := d.Text()
	return s, err
}

func readArray(d *hdf5.Dataset, kind string) (*Array, error) {
	out := &Array{As: kind}
	t := d.Type()
	var data any
	var err error
	switch {
	case t.Class == hdf5.Enum:
		data, err = d.Bools()
	case t.Class == hdf5.Int:
		data, err = d.Int64s()
	case t.Class == hdf5.Float && t.Size <= 4:
		data, err = d.Float32s()
	case t.Class == hdf5.Float:
		data, err = d.Float64s()
	case t.IsComplex():
		data, err = d.Complex128s()
	default:
		out.Strings, err = d.Strings()
		return out, err
	}
	if err != nil {
		return nil, err
	}
	out.Numbers, err = tensor.From(data, d.Shape()...)
	return out, err
}

// WriteDict writes a file of dictionaries that rvspecfit reads.
func WriteDict(name string, d Dict) error {
	w, err := hdf5.Create(name)
	if err != nil {
		return err
	}
	defer w.Discard()
	w.Attr("/", "version", dictVersion)
	if err := writeGroup(w, "", d); err != nil {
		if e, ok := err.(*FormatError); ok {
			e.File = name
		}
		return err
	}
	return w.Close()
}

func writeGroup(w *hdf5.Writer, path string, d Dict) error {
	var keys []string
	for k := range d {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if k == "" || k == "." || k == ".." || strings.ContainsAny(k, "/\x00") {
			return bad("", path, "the key %q cannot be the name of an HDF5 object: want text without slashes, other than . and ..", k)
		}
		if err := writeValue(w, path+"/"+k, d[k]); err != nil {
			return err
		}
	}
	return nil
}

func writeValue(w *hdf5.Writer, path string, v any) error {
	put := func(kind string, data any, l hdf5.Layout) error {
		if err := w.Write(path, data, l); err != nil {
			return err
		}
		return w.Attr(path, "type", kind)
	}
	switch v := v.(type) {
	case nil:
		return put("None", int64(0), hdf5.Layout{})
	case string:
		return put("str", v, hdf5.Layout{})
	case bool, int64, float64:
		return put("scalar", v, hdf5.Layout{})
	case int:
		return put("scalar", int64(v), hdf5.Layout{})
	case Dict:
		if err := w.Group(path); err != nil {
			return err
		}
		return writeGroup(w, path, v)
	case *List:
		if len(v.Items) == 0 {
			return put("empty_array", []float64{}, hdf5.Layout{})
		}
		if err := w.Group(path); err != nil {
			return err
		}
		w.Attr(path, "type", map[bool]string{true: "flattened_tuple", false: "flattened_list"}[v.Tuple])
		items := Dict{}
		for i, x := range v.Items {
			items[fmt.Sprintf("__item_%d", i)] = x
		}
		return writeGroup(w, path, items)
	case *Array:
		if v.Numbers == nil {
			if len(v.Strings) == 0 {
				return put("empty_array", []float64{}, hdf5.Layout{})
			}
			return put(v.As, v.Strings, hdf5.Layout{})
		}
		n := v.Numbers.Compact()
		if n.Size() == 0 && v.As != "ndarray" {
			return put("empty_array", []float64{}, hdf5.Layout{})
		}
		return put(v.As, n.Data(), hdf5.Layout{Shape: append([]int{}, n.Shape()...)})
	}
	return bad("", path, "a value of type %T cannot be written: want nil, bool, int64, float64, string, Dict, *Array or *List", v)
}

// The getters return what a key holds, or an error that says what it should hold.

func (d Dict) missing(file, key, want string) error {
	if v, ok := d[path.Base(key)]; ok {
		return bad(file, key, "it is %s: want %s", described(v), want)
	}
	return &FormatError{Format: "rvspecfit", File: file, Place: key, What: "it is missing: want " + want, Err: ErrIncomplete}
}

// described says in words what a value is.
func described(v any) string {
	switch v := v.(type) {
	case nil:
		return "empty"
	case Dict:
		return "a dictionary"
	case *List:
		return fmt.Sprintf("a list of %d items", len(v.Items))
	case *Array:
		if v.Numbers == nil {
			return fmt.Sprintf("an array of %d strings", len(v.Strings))
		}
		return fmt.Sprintf("an array of the shape %v", v.Numbers.Shape())
	case Pickle:
		return fmt.Sprintf("a Python pickle of %d bytes", int(v))
	case string:
		return fmt.Sprintf("the text %q", foreign.Short(v, 40))
	case bool, int64, float64:
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("of type %T", v)
}

func (d Dict) text(file, key string) (string, error) {
	s, ok := d[key].(string)
	if !ok {
		return "", d.missing(file, key, "text")
	}
	return s, nil
}

func (d Dict) strings(file, key string) ([]string, error) {
	a, ok := d[key].(*Array)
	if !ok || a.Numbers != nil {
		return nil, d.missing(file, key, "a list of strings")
	}
	return a.Strings, nil
}

// floats returns an array of rank axes and its shape.
func (d Dict) floats(file, key string, rank int) ([]float64, []int, error) {
	a, ok := d[key].(*Array)
	if !ok || a.Numbers == nil || len(a.Numbers.Shape()) != rank {
		return nil, nil, d.missing(file, key, fmt.Sprintf("an array with the number of axes %d", rank))
	}
	return a.Numbers.Convert(tensor.Float64).Float64s(), a.Numbers.Shape(), nil
}

func (d Dict) ints(file, key string, rank int) ([]int, []int, error) {
	v, shape, err := d.floats(file, key, rank)
	if err != nil {
		return nil, nil, err
	}
	out := make([]int, len(v))
	for i, x := range v {
		if x != math.Trunc(x) || math.Abs(x) > 1<<52 {
			return nil, nil, bad(file, key, "element %d, counted from 0, is %g: want an integer", i, x)
		}
		out[i] = int(x)
	}
	return out, shape, nil
}

func numbers(as string, data any, shape ...int) *Array {
	t, err := tensor.From(data, shape...)
	if err != nil {
		panic("rvspecfit: " + err.Error())
	}
	return &Array{As: as, Numbers: t}
}
