// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rvspecfit

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// Format is a format of template libraries. Package rvspecfit has two, folders of rvspecfit's files and files in the open format; others
// are added with Register.
type Format struct {
	Name string

	// Holds reports whether the file or the folder is a library of this format, by its name or its first bytes.
	Holds func(path string) bool

	// Open gives access to a library. It may read nothing yet.
	Open func(path string) (*Contents, error)
}

// Contents are the arms of a library. They are read when they are asked for.
type Contents struct {
	Format string // name of the format; OpenLibrary sets it

	// Whole is true if the names of the arms, and any of the arms, cannot be found without reading all of the library.
	Whole bool

	// Arms returns the names of the arms.
	Arms func() ([]string, error)

	// Read returns the templates of some arms, in their order, with the names of the arms as Setup. Sets of templates without an
	// interpolator are interpolated in a triangulation.
	Read func(arms []string) ([]*Library, error)

	// Correlation returns templates for cross-correlation, one for each arm and nil where an arm has none. With continuum, the
	// continuum is divided out of them. The function is nil if libraries of this format have none: first guesses of fits then come
	// from a grid of parameters.
	Correlation func(arms []string, continuum bool) ([]*CCF, error)
}

// FolderFormat and OpenFormat are the names of the formats of this package.
const (
	FolderFormat = "rvspecfit"
	OpenFormat   = "open"
)

// registered are the formats of others. They are asked before those of this package, one of which takes every folder and the other
// every file.
var registered []Format

func ownFormats() []Format {
	return []Format{{FolderFormat, isFolder, openFolder}, {OpenFormat, func(string) bool { return true }, openOpen}}
}

// Register adds a format of template libraries. It is meant for init functions, and panics if the definition is incomplete or the name
// is taken.
func Register(f Format) {
	var lacks []string
	for _, part := range []struct {
		name    string
		missing bool
	}{{"Name", f.Name == ""}, {"Holds", f.Holds == nil}, {"Open", f.Open == nil}} {
		if part.missing {
			lacks = append(lacks, part.name)
		}
	}
	if len(lacks) > 0 {
		panic(fmt.Sprintf("rvspecfit: the definition of the format %q is incomplete: set %s", f.Name, strings.Join(lacks, ", ")))
	}
	if slices.ContainsFunc(append(ownFormats(), registered...), func(o Format) bool { return o.Name == f.Name }) {
		panic(fmt.Sprintf("rvspecfit: there is a format %q of template libraries already: give yours a name of its own", f.Name))
	}
	registered = append(registered, f)
}

// OpenLibrary opens a library of any format. What its Read returns is checked: every arm is there and its parts fit together.
func OpenLibrary(path string) (*Contents, error) {
	formats := append(slices.Clone(registered), ownFormats()...)
	f := formats[slices.IndexFunc(formats, func(f Format) bool { return f.Holds(path) })]
	c, err := f.Open(path)
	if err != nil {
		return nil, err
	}
	if c == nil || c.Arms == nil || c.Read == nil {
		return nil, bad(path, "", "Open of the format %q returned no Contents with the functions Arms and Read, and no error: correct the package that registered it", f.Name)
	}
	checked := *c
	checked.Format = f.Name
	checked.Read = func(arms []string) ([]*Library, error) {
		list, err := c.Read(arms)
		if err != nil {
			return nil, err
		}
		return list, checkArms(path, f.Name, list, arms)
	}
	return &checked, nil
}

// checkArms says what a reader returned instead of some arms.
func checkArms(path, format string, list []*Library, arms []string) error {
	if len(list) != len(arms) {
		return bad(path, "", "Read of the format %q returned %d arms, but %d were asked for: correct the package that registered it", format, len(list), len(arms))
	}
	for i, l := range list {
		if l == nil || l.Setup != arms[i] {
			return bad(path, arms[i], "Read of the format %q returned another arm or none: correct the package that registered it", format)
		}
		if err := l.check(path); err != nil {
			return err
		}
	}
	return nil
}

func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// openFolder opens a folder of rvspecfit's files.
func openFolder(dir string) (*Contents, error) {
	return &Contents{
		Arms: func() ([]string, error) { return Setups(dir) },
		Read: func(arms []string) ([]*Library, error) {
			return each(arms, func(arm string) (*Library, error) { return Load(dir, arm) })
		},
		Correlation: func(arms []string, continuum bool) ([]*CCF, error) {
			return each(arms, func(arm string) (*CCF, error) { return LoadCCF(dir, arm, continuum) })
		}}, nil
}

// openOpen opens a file in the open format, which is read once.
func openOpen(path string) (*Contents, error) {
	type contents struct {
		arms []string
		list []*Library
		ccfs []*CCF
	}
	read := sync.OnceValues(func() (c contents, err error) {
		c.list, c.ccfs, err = ReadOpen(path)
		for _, l := range c.list {
			c.arms = append(c.arms, l.Setup)
		}
		return c, err
	})
	return &Contents{
		Whole: true,
		Arms: func() ([]string, error) {
			c, err := read()
			return slices.Clone(c.arms), err
		},
		Read: func(arms []string) ([]*Library, error) {
			c, err := read()
			if err != nil {
				return nil, err
			}
			return each(arms, func(arm string) (*Library, error) {
				k := slices.Index(c.arms, arm)
				if k < 0 {
					return nil, fmt.Errorf("%s has no arm %s: choose from %s", path, arm, strings.Join(c.arms, ", "))
				}
				return c.list[k], nil
			})
		},
		Correlation: func(arms []string, continuum bool) ([]*CCF, error) {
			c, err := read()
			if err != nil {
				return nil, err
			}
			return each(arms, func(arm string) (*CCF, error) {
				k := slices.IndexFunc(c.ccfs, func(c *CCF) bool { return c.Setup == arm && c.Continuum == continuum })
				if k < 0 {
					return nil, nil
				}
				return c.ccfs[k], nil
			})
		}}, nil
}

// each calls a function for all arms, until it fails.
func each[T any](arms []string, read func(arm string) (T, error)) ([]T, error) {
	var list []T
	for _, arm := range arms {
		x, err := read(arm)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}
