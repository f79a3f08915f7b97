// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package columns

import (
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// readHDF5 reads a table of an HDF5 file: a dataset of two axes or of compounds, or the datasets of one axis and equal length in a group. The first
// group that has some is taken for a part that is "".
func readHDF5(content []byte, part string) (Table, string, error) {
	f, err := openBytes(content)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	note := ""
	if part == "" {
		if part, err = firstTable(f); err != nil {
			return nil, "", err
		}
		note = "the table is that of " + foreign.Text(part) + " in the file"
	}
	if d, err := f.Dataset(part); err == nil {
		t, more, err := ofDataset(d)
		return t, joinNotes(note, more), err
	}
	t, err := ofGroup(f, part)
	return t, note, err
}

// openBytes opens a file that is in memory.
func openBytes(content []byte) (*hdf5.File, error) {
	temporary, err := os.CreateTemp("", "table-*.h5")
	if err != nil {
		return nil, err
	}
	defer os.Remove(temporary.Name()) // an open file stays readable
	_, err = temporary.Write(content)
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	return hdf5.Open(temporary.Name())
}

// firstTable is the path of the first table of a file.
func firstTable(f *hdf5.File) (found string, err error) {
	groups := map[string]int{} // datasets of one axis in each group
	var order []string
	err = f.Walk(func(at string, isGroup bool) error {
		if isGroup || found != "" {
			return nil
		}
		d, err := f.Dataset(at)
		if err != nil {
			return nil
		}
		switch shape := d.Shape(); {
		case len(shape) == 2 && shape[0] > 1 && numeric5(d) || len(shape) == 1 && d.Type().Class == hdf5.Compound:
			found = at
		case len(shape) == 1 && shape[0] > 1:
			if groups[path.Dir(at)]++; groups[path.Dir(at)] == 1 {
				order = append(order, path.Dir(at))
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	for _, g := range order {
		if groups[g] > 1 {
			return g, nil
		}
	}
	if found == "" {
		return "", &FormatError{Format: "columns", What: "the HDF5 file has no table: neither a dataset of two axes or of compounds, nor datasets of one axis side by side", Try: "name the path of a dataset or a group"}
	}
	return found, nil
}

func numeric5(d *hdf5.Dataset) bool {
	class := d.Type().Class
	return class == hdf5.Int || class == hdf5.Float
}

// ofDataset makes columns of the second axis, or of the fields of compounds.
func ofDataset(d *hdf5.Dataset) (Table, string, error) {
	shape := d.Shape()
	switch {
	case len(shape) == 1 && d.Type().Class == hdf5.Compound:
		var t Table
		for _, m := range d.Type().Members {
			if v := columnOf(d.Field(m.Name)); v != nil {
				name, unit := split(m.Name)
				t = append(t, Column{Name: name, Unit: unit, Values: v})
			}
		}
		if len(t) > 0 {
			return t, "", nil
		}
	case len(shape) == 2 && numeric5(d):
		flat, err := d.Float64s()
		if err != nil {
			return nil, "", err
		}
		n := shape[1]
		var t Table
		for k, name := range unnamed(n) {
			column := make([]float64, shape[0])
			for i := range column {
				column[i] = flat[i*n+k]
			}
			t = append(t, Column{Name: name, Values: column})
		}
		return t, "the columns are called " + strings.Join(unnamed(n), ", "), nil
	}
	return nil, "", &FormatError{Format: "columns", What: fmt.Sprintf("the dataset has the shape %v and the type %s, which is no table", shape, d.Type()), Try: "name a dataset of two axes or of compounds, or a group of datasets of one axis"}
}

// columnOf is the values of an array of one axis, nil if they are neither numbers nor texts.
func columnOf(a *hdf5.Array) any {
	if len(a.Shape()) != 1 {
		return nil
	}
	if v, err := a.Float64s(); err == nil {
		return v
	}
	if v, err := a.Strings(); err == nil {
		return v
	}
	return nil
}

// ofGroup makes columns of the datasets of one axis in a group, of the length that most of them have.
func ofGroup(f *hdf5.File, at string) (Table, error) {
	keys, err := f.Keys(at)
	if err != nil {
		return nil, err
	}
	lengths, most := map[int]int{}, 0
	all := map[string]*hdf5.Dataset{}
	for _, key := range keys {
		d, err := f.Dataset(path.Join(at, key))
		if err != nil || len(d.Shape()) != 1 {
			continue
		}
		all[key] = d
		n := d.Shape()[0]
		if lengths[n]++; lengths[n] > lengths[most] {
			most = n
		}
	}
	var t Table
	for _, key := range keys {
		if d := all[key]; d != nil && d.Shape()[0] == most {
			v := columnOf(&d.Array)
			if v == nil {
				continue
			}
			name, unit := split(key)
			if a, err := f.Attr(path.Join(at, key), "units"); err == nil && unit == "" {
				if s, err := a.Strings(); err == nil && len(s) == 1 {
					unit = s[0]
				}
			}
			t = append(t, Column{Name: name, Unit: unit, Values: v})
		}
	}
	if len(t) == 0 {
		return nil, &FormatError{Format: "columns", What: "the group " + at + " has no datasets of one axis", Try: "name the path of a dataset or a group with a table"}
	}
	return t, nil
}
