// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/xarray"
	"github.com/euryale-dev/euryale/tensor"
)

// Open reads the store in the folder with the given name.
func Open(name string) (*tensor.DataTree, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("zarr: %w", err)
	}
	defer root.Close()
	return read(root.FS(), name)
}

// Read reads a store at the root of a file system, such as a zip.Reader.
func Read(fsys fs.FS) (*tensor.DataTree, error) { return read(fsys, "store") }

// Is reports whether a folder looks like a store of Zarr, of version 2 or 3.
func Is(name string) bool {
	for _, file := range []string{".zgroup", root3} {
		if _, err := os.Stat(filepath.Join(name, file)); err == nil {
			return true
		}
	}
	return false
}

// root3 is the file of metadata that version 3 has in each folder.
const root3 = "zarr.json"

// reader reads one store; left is the number of bytes that it may still allocate for
// elements.
type reader struct {
	fsys fs.FS
	left int64
	v3   bool           // whether the store has version 3 of the format
	rank map[string]int // position of each path in the consolidated metadata
	// ours holds the consolidated metadata of a store that this package wrote, which the files have to repeat and all of whose chunks
	// have to exist. It is nil for others.
	ours map[string]json.RawMessage
}

// floor and expansion limit the memory for reading: 64 MiB plus 1040 bytes per stored
// byte, the largest expansion of deflate.
const (
	floor     = 64 << 20
	expansion = 1040
	maxText   = 64 << 20 // largest metadata file in bytes
)

func read(fsys fs.FS, name string) (*tensor.DataTree, error) {
	r := &reader{fsys: fsys, left: floor, rank: map[string]int{}}
	t, err := r.tree()
	var e *FormatError
	if errors.As(err, &e) {
		e.File = name
		return nil, e
	}
	if err != nil {
		return nil, &FormatError{Format: "zarr", File: name, What: "the store cannot be read", Err: err, Try: copyAgain}
	}
	return t, nil
}

func (r *reader) tree() (*tensor.DataTree, error) {
	if _, err := fs.Stat(r.fsys, ".zgroup"); err != nil {
		if _, err := fs.Stat(r.fsys, root3); err != nil {
			return nil, &FormatError{Format: "zarr", What: "there is neither .zgroup nor zarr.json, so this is not a store of Zarr version 2 or 3", Try: "give the folder that contains one of them"}
		}
		r.v3 = true
	}
	if err := r.readOrder(); err != nil {
		return nil, err
	}
	t := tensor.NewDataTree()
	var err error
	if t.Attrs, err = r.attrs(""); err != nil {
		return nil, err
	}
	groups, arrays, err := r.children("")
	if err != nil {
		return nil, err
	}
	if len(arrays) > 0 {
		if err := r.group(t, "", "root", arrays); err != nil {
			return nil, err
		}
	}
	for _, g := range groups {
		sub, arrays, err := r.children(g)
		if err != nil {
			return nil, err
		}
		if len(sub) > 0 {
			return nil, &FormatError{Format: "zarr", Place: sub[0], What: "there is a group inside a group", Try: "write groups of one level"}
		}
		if err := r.group(t, g, g, arrays); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// readOrder reads the order of groups and arrays from the consolidated metadata, if there
// are any.
func (r *reader) readOrder() error {
	if r.v3 {
		return r.readOrder3()
	}
	b, err := r.file(".zmetadata")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var all struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	if err == nil {
		err = foreign.Decode(b, &all, false)
	}
	if err != nil {
		return &FormatError{Format: "zarr", Place: ".zmetadata", What: "the consolidated metadata cannot be read", Err: err, Try: "consolidate them again with zarr.consolidate_metadata, or remove the file"}
	}
	if bytes.HasPrefix(b, []byte(consolidated)) {
		if err := json.Unmarshal(all.Metadata, &r.ours); err != nil {
			return &FormatError{Format: "zarr", Place: ".zmetadata", What: "the consolidated metadata are no object", Try: copyAgain}
		}
		for name := range r.ours {
			if _, err := r.file(name); err != nil {
				return within(name, err)
			}
		}
	}
	return r.order(all.Metadata, ".zmetadata", path.Dir)
}

// readOrder3 reads the consolidated metadata in the root of version 3.
func (r *reader) readOrder3() error {
	b, err := r.file(root3)
	if err != nil {
		return within(root3, err)
	}
	n, err := parseNode(b)
	if err != nil {
		return within(root3, err)
	}
	if n.Type != "group" {
		return &FormatError{Format: "zarr", Place: root3, What: "the store is a single array", Try: "give a store of groups of variables, as xarray and ArviZ write"}
	}
	if n.Consolidated == nil {
		return nil
	}
	if bytes.HasPrefix(b, []byte(consolidated3)) {
		inside := map[string]json.RawMessage{}
		if err := json.Unmarshal(n.Consolidated.Metadata, &inside); err != nil {
			return &FormatError{Format: "zarr", Place: root3, What: "the consolidated metadata are no object", Try: copyAgain}
		}
		r.ours = map[string]json.RawMessage{}
		for key, meta := range inside {
			r.ours[path.Join(key, root3)] = meta
			if _, err := r.file(path.Join(key, root3)); err != nil {
				return within(path.Join(key, root3), err)
			}
		}
	}
	return r.order(n.Consolidated.Metadata, root3, func(key string) string { return key })
}

// order keeps the order of the paths in consolidated metadata, whose keys are those of paths.
func (r *reader) order(metadata json.RawMessage, file string, pathOf func(string) string) error {
	d := json.NewDecoder(bytes.NewReader(metadata))
	if _, err := d.Token(); err != nil {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		var skip json.RawMessage
		if err == nil {
			err = d.Decode(&skip)
		}
		if err != nil {
			return &FormatError{Format: "zarr", Place: file, What: "the consolidated metadata cannot be read", Err: err, Try: "consolidate them again with zarr.consolidate_metadata"}
		}
		if s, ok := key.(string); ok {
			if _, known := r.rank[pathOf(s)]; !known {
				r.rank[pathOf(s)] = len(r.rank)
			}
		}
	}
	return nil
}

// node reads the metadata of a group or an array of version 3.
func (r *reader) node(dir string) (*node, error) {
	b, err := r.file(path.Join(dir, root3))
	if err != nil {
		return nil, err
	}
	return parseNode(b)
}

// kind returns whether a folder is a group or an array, or "" if it is neither.
func (r *reader) kind(dir string) (string, error) {
	if !r.v3 {
		if _, err := fs.Stat(r.fsys, path.Join(dir, ".zarray")); err == nil {
			return "array", nil
		} else if _, err := fs.Stat(r.fsys, path.Join(dir, ".zgroup")); err == nil {
			return "group", nil
		}
		return "", nil
	}
	n, err := r.node(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", within(path.Join(dir, root3), err)
	}
	return n.Type, nil
}

// children returns the paths of the groups and arrays in a group. They follow the order
// of the consolidated metadata, then that of their names.
func (r *reader) children(dir string) (groups, arrays []string, err error) {
	entries, err := fs.ReadDir(r.fsys, path.Join(".", dir))
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		if !e.IsDir() {
			continue
		}
		kind, err := r.kind(p)
		switch {
		case err != nil:
			return nil, nil, err
		case kind == "array":
			arrays = append(arrays, p)
		case kind == "group":
			groups = append(groups, p)
		}
	}
	place := func(p string) int {
		if i, ok := r.rank[p]; ok {
			return i
		}
		return len(r.rank)
	}
	byPlace := func(a, b string) int { return place(a) - place(b) }
	slices.SortStableFunc(groups, byPlace)
	slices.SortStableFunc(arrays, byPlace)
	return groups, arrays, nil
}

// group reads the arrays of a group into a dataset of the tree.
func (r *reader) group(t *tensor.DataTree, dir, name string, arrays []string) error {
	attrs, err := r.attrs(dir)
	if err != nil {
		return err
	}
	labels := xarray.Labels(attrs)
	var all []tensor.Variable
	for _, p := range arrays {
		v, err := r.array(p)
		if err != nil {
			return within(p, err)
		}
		labels = append(labels, xarray.Labels(v.Attrs)...)
		all = append(all, v)
	}
	d, err := xarray.Dataset(name, attrs, all, labels)
	if err != nil {
		return &FormatError{Format: "zarr", Place: dir, What: "the variables of the group do not fit together", Err: err, Try: "name the axes of each length differently"}
	}
	if err := t.Add(d); err != nil {
		return &FormatError{Format: "zarr", Place: dir, What: "the group cannot be added", Err: err}
	}
	return nil
}

func within(key string, err error) error {
	var e *FormatError
	if errors.As(err, &e) {
		if e.Place == "" {
			e.Place = key
		}
		return e
	}
	return &FormatError{Format: "zarr", Place: key, What: "the file or array cannot be read", Err: err, Try: copyAgain}
}

// attrs reads .zattrs of a group or array. Text is kept as it is, everything else as
// JSON.
func (r *reader) attrs(dir string) (map[string]string, error) {
	if r.v3 {
		n, err := r.node(dir)
		if err != nil {
			return nil, within(path.Join(dir, root3), err)
		}
		return texts(n.Attributes), nil
	}
	out := map[string]string{}
	b, err := r.file(path.Join(dir, ".zattrs"))
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	var all map[string]json.RawMessage
	if err == nil {
		err = foreign.Decode(b, &all, false)
	}
	if err != nil {
		return nil, &FormatError{Format: "zarr", Place: path.Join(dir, ".zattrs"), What: "the attributes cannot be read", Err: err, Try: copyAgain}
	}
	return texts(all), nil
}

// texts returns attributes as text, those that are none as JSON.
func texts(all map[string]json.RawMessage) map[string]string {
	out := map[string]string{}
	for k, raw := range all {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = string(raw)
		}
		out[k] = s
	}
	return out
}

// file reads a metadata file.
func (r *reader) file(name string) ([]byte, error) {
	f, err := foreign.OpenIn(r.fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err == nil && len(b) > maxText {
		err = fmt.Errorf("the metadata have more than %d bytes", maxText)
	}
	if want := r.ours[name]; err == nil && want != nil && !agree(b, want) {
		err = &FormatError{Format: "zarr", Place: name, What: "the file is not what the consolidated metadata say it is: one of them was damaged or changed", Try: copyAgain + ", or if you changed the file, consolidate the metadata again with zarr.consolidate_metadata"}
	}
	return b, err
}

// agree reports whether a metadata file is what the consolidated metadata say, but for the length of arrays: a process that was killed may
// have written only the file of the array.
func agree(b, want []byte) bool {
	var x, y any
	if json.Unmarshal(b, &x) != nil || json.Unmarshal(want, &y) != nil {
		return false
	}
	for _, v := range []any{x, y} {
		if m, ok := v.(map[string]any); ok && m["zarr_format"] != nil {
			delete(m, "shape")
		}
	}
	return reflect.DeepEqual(x, y)
}
