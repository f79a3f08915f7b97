// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// Writer makes a file that every version of the HDF5 library since 1.0 opens: superblock 0,
// symbol-table groups, version 1 headers. Numeric data are written to disk at once, everything else at
// Close, which renames the file to its final name. The first error is kept, makes later calls return
// without effect, and is returned by Close, so checking Close is enough:
//
//	w, err := hdf5.Create("out.h5")
//	if err != nil { ... }
//	defer w.Discard()
//	w.Write("/entry/q", q, hdf5.Layout{})
//	w.Write("/entry/image", pixels, hdf5.Layout{Shape: []int{512, 512}, Gzip: 4, Shuffle: true})
//	w.Attr("/entry/q", "units", "1/angstrom")
//	w.SoftLink("/entry/default", "/entry/image")
//	return w.Close()
type Writer struct {
	name string
	out  *atomicfile.File
	end  uint64 // offset of the next free byte
	root *node
	rows []*Rows
	err  error
}

// node is an object or link being written.
type node struct {
	path     string
	kind     nodeKind
	children map[string]*node // members of a group
	target   string           // path that a link points to
	file     string           // file that an external link points to
	attrs    []*attrValue
	scales   [][]string // paths of the dimension scales of each axis of a dataset
	data     *dataNode
	addr     uint64 // address of the header
	size     uint64
	tree     uint64 // address of the symbol table of a group
	heap     uint64
}

type nodeKind int

const (
	groupNode nodeKind = iota
	datasetNode
	softNode
	externalNode
)

type attrValue struct {
	name string
	value
}

// Create starts a file that will have the given name once Close succeeds.
func Create(name string) (*Writer, error) {
	out, err := atomicfile.Create(name)
	if err != nil {
		return nil, fmt.Errorf("hdf5: %w", err)
	}
	return &Writer{name: name, out: out, end: superblockSize, root: &node{path: "/", children: map[string]*node{}}}, nil
}

// Discard removes what was written. After Close it does nothing.
func (w *Writer) Discard() {
	if w.out == nil {
		return
	}
	w.out.Discard()
	w.out = nil
	w.fail("", "the file was discarded: create it again")
}

// Close writes the rest and renames the file to its final name. After an error no file is left behind.
func (w *Writer) Close() error {
	if w.out == nil {
		if w.err == nil {
			w.fail("", "the file is already closed: write before Close")
		}
		return w.err
	}
	if w.complete(); w.err == nil {
		w.finish()
	}
	if w.err == nil {
		if err := w.out.Commit(); err != nil {
			w.err = fmt.Errorf("hdf5: %w", err)
		}
	}
	w.out.Discard()
	w.out = nil
	return w.err
}

func (w *Writer) fail(path, format string, args ...any) error {
	if w.err == nil {
		w.err = &FormatError{Format: "hdf5", File: w.name, Place: path, What: fmt.Sprintf(format, args...), Err: fs.ErrInvalid}
	}
	return w.err
}

// Group makes a group and its parents. A group that exists already is no error.
func (w *Writer) Group(key string) error {
	_, err := w.group(key)
	return err
}

func (w *Writer) group(key string) (*node, error) {
	if w.err != nil {
		return nil, w.err
	}
	at := w.root
	for _, name := range split(key) {
		if strings.ContainsRune(name, 0) {
			return nil, w.fail(key, "the name %q contains a zero byte: remove it", name)
		}
		next := at.children[name]
		if next == nil {
			next = &node{path: path.Join(at.path, name), children: map[string]*node{}}
			at.children[name] = next
		}
		if next.kind != groupNode {
			return nil, w.fail(next.path, "it exists and is not a group, so %s cannot be below it: choose another path", key)
		}
		at = next
	}
	return at, nil
}

// add inserts a node at a path that is not yet taken.
func (w *Writer) add(key string, n *node) error {
	parts := split(key)
	if w.err != nil {
		return w.err
	}
	if len(parts) == 0 {
		return w.fail(key, "it is the root group: give a path below it")
	}
	last := parts[len(parts)-1]
	parent, err := w.group(strings.Join(parts[:len(parts)-1], "/"))
	if err != nil {
		return err
	}
	if parent.children[last] != nil {
		return w.fail(key, "it exists already: choose another path")
	}
	if strings.ContainsRune(last, 0) {
		return w.fail(key, "the name %q contains a zero byte: remove it", last)
	}
	n.path = path.Join(parent.path, last)
	parent.children[last] = n
	return nil
}

// at returns the group or dataset at a path.
func (w *Writer) at(key string) (*node, error) {
	if w.err != nil {
		return nil, w.err
	}
	n := w.root
	for _, name := range split(key) {
		if n = n.children[name]; n == nil || n.kind > datasetNode {
			return nil, w.fail(key, "it has not been written yet: write it first")
		}
	}
	return n, nil
}

// SoftLink makes a name that refers to another path in this file, which need not exist.
func (w *Writer) SoftLink(key, target string) error {
	return w.add(key, &node{kind: softNode, target: target})
}

// ExternalLink makes a name that refers to a path in another file. The file name is relative to the
// folder of this file.
func (w *Writer) ExternalLink(key, file, target string) error {
	return w.add(key, &node{kind: externalNode, target: target, file: file})
}

// Attr gives a group or dataset an attribute: a number, bool, string, FixedString, Ref or a slice of
// these. It replaces an attribute of the same name.
func (w *Writer) Attr(key, name string, v any) error {
	n, err := w.at(key)
	if err != nil {
		return err
	}
	val, err := encode(v, nil, 0)
	if err != nil {
		return w.fail(key+"@"+name, "%v", err)
	}
	val.raw = slices.Clone(val.raw) // the caller may reuse the slice
	if size := val.bytes() + len(name); size > 60000 {
		return w.fail(key+"@"+name, "the attribute has %d bytes, but at most 60000 fit: write a dataset instead", size)
	}
	for _, a := range n.attrs {
		if a.name == name {
			a.value = val
			return nil
		}
	}
	n.attrs = append(n.attrs, &attrValue{name, val})
	return nil
}

// alloc reserves n bytes, aligned to eight.
func (w *Writer) alloc(n uint64) uint64 {
	at := (w.end + 7) &^ 7
	w.end = at + n
	return at
}

func (w *Writer) put(b []byte, at uint64) {
	if w.err != nil {
		return
	}
	if _, err := w.out.WriteAt(b, int64(at)); err != nil {
		w.err = fmt.Errorf("hdf5: %w", err)
	}
}

// append allocates space for b and writes it.
func (w *Writer) append(b []byte) uint64 {
	at := w.alloc(uint64(len(b)))
	w.put(b, at)
	return at
}
