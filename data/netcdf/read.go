// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package netcdf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/xarray"
	"github.com/euryale-dev/euryale/tensor"
)

// Open reads the file with the given name.
func Open(name string) (*tensor.DataTree, error) {
	r, err := foreign.Open(name, ".nc")
	if err != nil {
		return nil, fmt.Errorf("netcdf: %w", err)
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return nil, fmt.Errorf("netcdf: %w", err)
	}
	if info.IsDir() {
		return nil, &FormatError{Format: "netcdf", File: name, What: "it is a folder", Try: "name a file"}
	}
	return Read(r, info.Size(), name)
}

// Read reads a file of size bytes; name appears in errors.
func Read(r io.ReaderAt, size int64, name string) (*tensor.DataTree, error) {
	t, err := read(r, size)
	var e *FormatError
	switch {
	case errors.As(err, &e) && e.Format == "netcdf":
		e.File = name
		return nil, e
	case err != nil:
		return nil, &FormatError{Format: "netcdf", File: name, What: "it cannot be read", Err: err}
	}
	return t, nil
}

func read(r io.ReaderAt, size int64) (*tensor.DataTree, error) {
	head := make([]byte, 4)
	if n, _ := r.ReadAt(head, 0); n == 4 && bytes.Equal(head[:3], []byte("CDF")) {
		return readClassic(r, size)
	}
	f, err := hdf5.Read(r, size)
	if err != nil {
		return nil, err
	}
	in := &reader{f: f, grows: map[string][]string{}}
	t := tensor.NewDataTree()
	if t.Attrs, err = in.attrs("/"); err != nil {
		return nil, err
	}
	groups, vars, err := in.children("/")
	if err != nil {
		return nil, err
	}
	if err := in.group(t, "/", "root", vars, len(groups) > 0); err != nil {
		return nil, err
	}
	slices.SortStableFunc(groups, func(a, b string) int { return rank(a) - rank(b) })
	for _, g := range groups {
		sub, vars, err := in.children(g)
		if err != nil {
			return nil, err
		}
		if len(sub) > 0 {
			return nil, &FormatError{Format: "netcdf", Place: sub[0], What: "there is a group inside a group", Try: "write groups of one level"}
		}
		if err := in.group(t, g, path.Base(g), vars, false); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// order lists the groups in ArviZ's order. All others follow them.
var order = []string{"posterior", "posterior_predictive", "predictions", "log_likelihood", "log_prior", "sample_stats", "prior", "prior_predictive",
	"sample_stats_prior", "warmup_posterior", "warmup_posterior_predictive", "warmup_sample_stats", "observed_data", "constant_data", "predictions_constant_data"}

func rank(group string) int {
	if i := slices.Index(order, path.Base(group)); i >= 0 {
		return i
	}
	return len(order)
}

// reader reads one file.
type reader struct {
	f     *hdf5.File
	grows map[string][]string // dimensions of each variable that have no limit, by its path
}

// children returns the paths of the groups and datasets in a group.
func (r *reader) children(dir string) (groups, vars []string, err error) {
	keys, err := r.f.Keys(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, k := range keys {
		p := path.Join(dir, k)
		if _, err := r.f.Links(p); err == nil {
			groups = append(groups, p)
			continue
		}
		if _, no := r.f.Dataset(p); errors.Is(no, data.ErrType) { // a type that has a name
			continue
		} else if no != nil {
			return nil, nil, within(p, no)
		}
		vars = append(vars, p)
	}
	return groups, vars, nil
}

// group reads the variables of a group into a dataset of the tree. A root group is left
// out if it has no variables, or if it has only labels for the groups below it.
func (r *reader) group(t *tensor.DataTree, dir, name string, vars []string, above bool) error {
	attrs, err := r.attrs(dir)
	if err != nil {
		return err
	}
	vars = ordered(vars, attrs[orderAttr])
	delete(attrs, orderAttr)
	labels := xarray.Labels(attrs)
	var all []tensor.Variable
	var leftOut []string
	for _, p := range vars {
		if d, err := r.f.Dataset(p); err == nil && !readable(d.Type()) {
			leftOut = append(leftOut, fmt.Sprintf("%s (%s)", path.Base(p), d.Type()))
			continue
		}
		v, extra, err := r.variable(p)
		if err != nil {
			return within(p, err)
		}
		if v != nil {
			all, labels = append(all, *v), append(labels, extra...)
		}
	}
	if err := r.pad(dir, all); err != nil {
		return err
	}
	if len(leftOut) > 0 && len(all) == 0 {
		return bad(dir, "its only variables are %s, whose types are not supported: store numbers, truth values or text", strings.Join(leftOut, ", "))
	}
	if len(leftOut) > 0 {
		attrs[xarray.LeftOut] = strings.Join(leftOut, ", ")
	}
	if all, err = r.inherited(dir, all); err != nil {
		return err
	}
	if dir == "/" {
		dims := xarray.Dims(all)
		if !slices.ContainsFunc(all, func(v tensor.Variable) bool { return !above || !dims[v.Name] }) {
			return nil
		}
		attrs = nil // the attributes of the root belong to the tree
	}
	d, err := xarray.Dataset(name, attrs, all, labels)
	if err != nil {
		return &FormatError{Format: "netcdf", Place: dir, What: "the variables do not fit together", Err: err}
	}
	if err := t.Add(d); err != nil {
		return &FormatError{Format: "netcdf", Place: dir, What: "the group cannot be added", Err: err}
	}
	return nil
}

// pad gives variables along a dimension without a limit the length of the longest: what was not written is missing.
func (r *reader) pad(dir string, all []tensor.Variable) error {
	longest := map[string]int{}
	for _, v := range all {
		for i, d := range v.Dims {
			longest[d] = max(longest[d], v.Shape[i])
		}
	}
	for i, v := range all {
		shape := v.Shape.Clone()
		for k, d := range v.Dims {
			if slices.Contains(r.grows[path.Join(dir, v.Name)], d) {
				shape[k] = longest[d]
			}
		}
		if slices.Equal(shape, v.Shape) {
			continue
		}
		if n := int64(shape.Size()); n > r.f.MaxBytes/16 {
			return bad(path.Join(dir, v.Name), "it would have %d elements along dimensions without a limit, more than the size of the file allows: copy the file again", n)
		}
		r.f.MaxBytes -= 16 * int64(shape.Size())
		all[i].Data, all[i].Shape = padded(v, shape), shape
	}
	return nil
}

// padded returns the elements of a variable in a larger shape. What is missing is NaN, also of integers, which become floats.
func padded(v tensor.Variable, shape tensor.Shape) any {
	switch x := v.Data.(type) {
	case []bool:
		return spread(x, v.Shape, shape, false)
	case []string:
		return spread(x, v.Shape, shape, "")
	}
	return spread(v.Floats(), v.Shape, shape, math.NaN())
}

func spread[T any](x []T, from, to tensor.Shape, missing T) []T {
	out := make([]T, to.Size())
	for i := range out {
		out[i] = missing
	}
	strides := to.Strides()
	for i, v := range x {
		at := 0
		for k := len(from) - 1; k >= 0; k-- {
			at += i % from[k] * strides[k]
			i /= from[k]
		}
		out[at] = v
	}
	return out
}

// ordered puts the paths of variables in the order that the attribute variable_order gives. Those that it does not
// name follow, sorted by name.
func ordered(vars []string, order string) []string {
	var names []string
	if order == "" || json.Unmarshal([]byte(order), &names) != nil {
		return vars
	}
	place := map[string]int{}
	for i, name := range names {
		place[name] = i - len(names)
	}
	out := slices.Clone(vars)
	slices.SortStableFunc(out, func(a, b string) int { return place[path.Base(a)] - place[path.Base(b)] })
	return out
}

// inherited adds the labels of dimensions declared in the root group.
func (r *reader) inherited(dir string, all []tensor.Variable) ([]tensor.Variable, error) {
	if dir == "/" {
		return all, nil
	}
	have := map[string]bool{}
	for _, v := range all {
		have[v.Name] = true
	}
	for _, v := range all {
		for i, dim := range v.Dims {
			if have[dim] {
				continue
			}
			have[dim] = true
			if !r.f.Has("/" + dim) {
				continue
			}
			c, _, err := r.variable("/" + dim)
			if err != nil {
				return nil, within("/"+dim, err)
			}
			if c != nil && len(c.Shape) == 1 && c.Shape[0] == v.Shape[i] && c.Dims[0] == dim {
				all = append(all, *c)
			}
		}
	}
	return all, nil
}

func within(key string, err error) error {
	var e *FormatError
	if errors.As(err, &e) && e.Format == "netcdf" {
		if e.Place == "" {
			e.Place = key
		}
		return e
	}
	return &FormatError{Format: "netcdf", Place: key, What: "it cannot be read", Err: err, Try: "copy the file again"}
}
