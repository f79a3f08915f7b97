// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/internal/spelling"
)

// DataTree is an ordered list of named groups, such as the posterior, the
// sampler's statistics and the observed data of one run: ArviZ's InferenceData,
// or xarray's DataTree of one level.
//
//	t := tensor.NewDataTree()
//	err := t.Add(posterior)
//	g, err := t.Group("posterior")
type DataTree struct {
	// Attrs holds attributes of the whole tree. It may be nil.
	Attrs map[string]string

	groups []*Dataset
}

// NewDataTree returns an empty tree.
func NewDataTree() *DataTree { return &DataTree{Attrs: map[string]string{}} }

// Add appends a group under its own name, which must not change afterwards.
func (t *DataTree) Add(d *Dataset) error {
	switch {
	case d == nil:
		return fmt.Errorf("tensor: the group to add is nil: pass a *Dataset")
	case !plain(d.Name):
		return fmt.Errorf("tensor: files cannot store a group named %q: use a word such as posterior", d.Name)
	case t.find(d.Name) != nil:
		return fmt.Errorf("tensor: the tree already has a group %q: give each group a name of its own", d.Name)
	}
	t.groups = append(t.groups, d)
	return nil
}

// Groups returns the groups in order; do not change the slice.
func (t *DataTree) Groups() []*Dataset { return t.groups }

// Group returns the group with the given name. If there is none, the error lists the names that
// exist.
func (t *DataTree) Group(name string) (*Dataset, error) {
	if d := t.find(name); d != nil {
		return d, nil
	}
	var names []string
	for _, d := range t.groups {
		names = append(names, d.Name)
	}
	if near := spelling.Meant(name, names); near != "" {
		return nil, fmt.Errorf("tensor: there is no group %q: did you mean %s?", name, near)
	}
	return nil, fmt.Errorf("tensor: there is no group %q: the groups are [%s]", name, strings.Join(names, " "))
}

// Has reports whether there is a group of this name.
func (t *DataTree) Has(name string) bool { return t.find(name) != nil }

func (t *DataTree) find(name string) *Dataset {
	for _, d := range t.groups {
		if d.Name == name {
			return d
		}
	}
	return nil
}
