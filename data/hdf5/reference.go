// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import "fmt"

// Ref is a reference to an object of the same file.
type Ref struct {
	// Path is the path of the object. A Writer needs it; a reader fills it in if the object has a name.
	Path string
	addr uint64
}

// References returns the elements as object references.
func (a *Array) References() ([]Ref, error) {
	if a.err == nil && a.typ.Class != Reference {
		return nil, a.named(typeError("references", a.typ))
	}
	raw, err := a.raw()
	if err != nil {
		return nil, err
	}
	return a.refs(raw, a.typ)
}

// ReferenceLists returns elements that are lists of object references, such as the attribute
// DIMENSION_LIST of a dataset with dimension scales.
func (a *Array) ReferenceLists() ([][]Ref, error) {
	all, base, err := a.lists()
	if err != nil {
		return nil, err
	}
	out := make([][]Ref, len(all))
	for i, b := range all {
		if out[i], err = a.refs(b, base); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (a *Array) refs(raw []byte, t *Type) ([]Ref, error) {
	if t.Class != Reference || t.Size != a.file.offsetSize {
		return nil, a.misuse("references of %d bytes, want object references of %d", t.Size, a.file.offsetSize)
	}
	names, err := a.file.index()
	if err != nil {
		return nil, err
	}
	c := a.file.cursor(raw)
	all := make([]Ref, len(raw)/t.Size)
	for i := range all {
		addr := c.addr()
		all[i] = Ref{Path: names[addr], addr: addr}
	}
	return all, nil
}

// index returns the path of every object by the address of its header.
func (f *File) index() (map[uint64]string, error) {
	f.mu.Lock()
	names := f.names
	f.mu.Unlock()
	if names != nil {
		return names, nil
	}
	names = map[uint64]string{f.root: "/"}
	root, err := f.rootObject()
	if err != nil {
		return nil, err
	}
	err = f.walkObjects(root, func(o object) error {
		names[o.head.addr] = o.path
		return nil
	})
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.names = names
	f.mu.Unlock()
	return names, nil
}

// Dereference opens the dataset that a reference points to.
func (f *File) Dereference(r Ref) (*Dataset, error) {
	if r.addr == 0 || r.addr == undef {
		return nil, &FormatError{Format: "hdf5", File: f.name, What: "the reference is null and points to no object", Try: "skip it", Err: ErrNotFound}
	}
	h, err := f.header(r.addr)
	if err != nil {
		return nil, err
	}
	if r.Path == "" {
		r.Path = fmt.Sprintf("<object at %d>", r.addr)
	}
	return f.dataset(h, r.Path)
}
