// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import "path"

// Group is a File as seen from one of its groups: names are relative to the group.
type Group struct {
	file *File
	path string
}

// Group opens a group; "/" is the root.
func (f *File) Group(key string) (*Group, error) {
	if _, err := f.Links(key); err != nil {
		return nil, err
	}
	return &Group{f, path.Join("/", key)}, nil
}

// Path returns the group's path.
func (g *Group) Path() string { return g.path }

// Keys returns the names in the group, sorted.
func (g *Group) Keys() ([]string, error) { return g.file.Keys(g.path) }

// Has reports whether the group holds an object.
func (g *Group) Has(key string) bool { return g.file.Has(g.path + "/" + key) }

// Dataset opens a dataset below the group.
func (g *Group) Dataset(key string) (*Dataset, error) { return g.file.Dataset(path.Join(g.path, key)) }

// Group opens a group below the group.
func (g *Group) Group(key string) (*Group, error) { return g.file.Group(path.Join(g.path, key)) }

// Attrs returns the attributes of the group, sorted by name.
func (g *Group) Attrs() ([]*Attribute, error) { return g.file.Attrs(g.path) }

// Attr returns one attribute of the group.
func (g *Group) Attr(name string) (*Attribute, error) { return g.file.Attr(g.path, name) }
