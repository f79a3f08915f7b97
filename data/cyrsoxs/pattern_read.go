// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// ReadPatterns reads the files Energy_*.h5 of a folder in order of rising energy.
func ReadPatterns(dir string) ([]*Pattern, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cyrsoxs: %w", err)
	}
	var all []*Pattern
	for _, e := range entries {
		if _, ok := energyOf(e.Name()); !ok {
			continue
		}
		p, err := ReadPattern(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if all == nil {
		return nil, &FormatError{Format: "cyrsoxs", File: dir, What: "the folder has no Energy_*.h5", Try: "give the folder that a simulation wrote", Err: ErrIncomplete}
	}
	slices.SortFunc(all, func(a, b *Pattern) int { return cmp.Compare(a.Energy, b.Energy) })
	return all, nil
}

// ReadPattern reads the images of one energy, in the precision of the file. The energy is taken from
// the name.
func ReadPattern(name string) (*Pattern, error) {
	energy, ok := energyOf(name)
	if !ok {
		return nil, &FormatError{Format: "cyrsoxs", File: name, What: "there is no energy in the name of the file", Try: "want a name such as Energy_284.70.h5"}
	}
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cyrsoxs: %w", err)
	}
	defer f.Close()
	p, err := readPattern(f)
	if err != nil {
		return nil, err
	}
	p.Energy = energy
	return p, nil
}

func readPattern(f *hdf5.File) (*Pattern, error) {
	bad := func(key, format string, args ...any) error {
		return &FormatError{Format: "cyrsoxs", File: f.Name(), Place: key, What: fmt.Sprintf(format, args...), Try: "give a file that CyRSoXS wrote"}
	}
	d, err := f.Dataset(keyBeamList)
	if err != nil {
		return nil, err
	}
	if s := d.Shape(); len(s) != 2 || s[0] < 1 || s[1] != 3 {
		return nil, bad(keyBeamList, "it has the shape %v, want (beams, 3)", s)
	}
	k, err := d.Float64s()
	if err != nil {
		return nil, err
	}
	p := &Pattern{}
	bytes := f.MaxBytes
	for i := range len(k) / 3 {
		p.KVectors = append(p.KVectors, [3]float64(k[3*i:]))
		d, err := f.Dataset(imageKey(i))
		if err != nil {
			return nil, err
		}
		s := d.Shape()
		if len(s) != 2 || s[0] < 1 || s[1] < 1 || i > 0 && [2]int(s) != p.Shape {
			return nil, bad(d.Path(), "it has the shape %v, want two axes, alike for all beams", s)
		}
		if bytes -= int64(d.Len()) * 8; bytes < 0 {
			return nil, bad(d.Path(), "the images have more pixels than the file can hold: copy the file again")
		}
		p.Shape = [2]int(s)
		image, err := readImage(f, d)
		if err != nil {
			return nil, err
		}
		p.Images = append(p.Images, image)
	}
	return p, nil
}

func readImage(f *hdf5.File, d *hdf5.Dataset) (Field, error) {
	a, err := f.Attr(d.Path(), "DIMENSION_LABELS")
	switch {
	case err == nil:
		if l, err := a.Strings(); err != nil || !slices.Equal(l, []string{"Qy", "Qx"}) {
			return Field{}, &FormatError{Format: "cyrsoxs", File: f.Name(), Place: d.Path(), What: fmt.Sprintf("its axes are labelled %q: want Qy and Qx", l), Err: err}
		}
	case !errors.Is(err, hdf5.ErrNotFound): // versions before 1.1 have no labels
		return Field{}, err
	}
	if d.Type().Class == hdf5.Float && d.Type().Size > 4 {
		v, err := d.Float64s()
		return Field{Float64: v}, err
	}
	v, err := d.Float32s()
	return Field{Float32: v}, err
}
