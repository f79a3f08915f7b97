// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// ReadSettings are the options of ReadMorphology. The zero value suits simulations in single
// precision.
type ReadSettings struct {
	// Double holds fields as float64. The default, float32, takes half the memory.
	Double bool
	// Vector prefers the vectors of a file that also has Euler angles. The default is the angles.
	Vector bool
}

// IsMorphology reports whether a file has the groups of a morphology.
func IsMorphology(f *hdf5.File) bool { return f.Has(group[Euler]) || f.Has(group[Vector]) }

// ReadMorphology reads the HDF5 file of a volume, in either layout, order of axes and precision. A
// phase without S, Theta and Psi is isotropic; a phase with only some of them is an error. Theta and
// Psi become zero where S is zero. Numbers that are not finite, axes with missing or unknown labels,
// different shapes and a wrong NumMaterial are errors that name the dataset. Apart from the result,
// it needs memory for a few slices of one field.
func ReadMorphology(name string, o ReadSettings) (*Morphology, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cyrsoxs: %w", err)
	}
	defer f.Close()
	return readMorphology(f, o)
}

// volume reads one file.
type volume struct {
	file  *hdf5.File
	m     *Morphology
	group string
	order string // order of the axes, ZYX or XYZ
	o     ReadSettings
}

func readMorphology(f *hdf5.File, o ReadSettings) (*Morphology, error) {
	v := &volume{file: f, o: o, m: &Morphology{}}
	for _, step := range []func() error{v.layout, v.parameters, v.materials, v.axes} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	for i := range v.m.Phases {
		if err := v.phase(i); err != nil {
			return nil, err
		}
	}
	return v.m, nil
}

func (v *volume) bad(key, try, format string, args ...any) *FormatError {
	return &FormatError{Format: "cyrsoxs", File: v.file.Name(), Place: key, What: fmt.Sprintf(format, args...), Try: try}
}

// layout finds out whether the file has angles or vectors.
func (v *volume) layout() error {
	euler, vector := v.file.Has(group[Euler]), v.file.Has(group[Vector])
	switch {
	case vector && (v.o.Vector || !euler):
		v.m.Type = Vector
	case !euler:
		keys, err := v.file.Keys("/")
		if err != nil {
			return err
		}
		e := v.bad("", "give the file of a morphology", "the file has neither %s nor %s, but %q", group[Euler], group[Vector], keys[:min(len(keys), 10)])
		e.Err = ErrIncomplete
		return e
	}
	v.group = group[v.m.Type]
	return nil
}

// leastVoxel is the smallest edge of a voxel in nm.
const leastVoxel = 1e-3

// parameters reads the voxel size and the description of the file.
func (v *volume) parameters() error {
	key := parameters + "/PhysSize"
	d, err := v.file.Dataset(key)
	if err != nil {
		return v.lacks(key, err)
	}
	if v.m.PhysSize, err = d.Float64(); err != nil {
		return err
	}
	if !(v.m.PhysSize > 0) || !finite(v.m.PhysSize) {
		return v.bad(key, "give the edge of a voxel in nm", "it is %v", v.m.PhysSize)
	}
	if v.m.PhysSize < leastVoxel {
		return v.bad(key, fmt.Sprintf("give the edge of a voxel in nm; if this is in m, it is %.6g nm", v.m.PhysSize*1e9), "it is %g nm, less than an atom", v.m.PhysSize)
	}
	v.m.Name, v.m.Creator = v.text("name"), v.text("morphology_creator")
	v.m.Created, v.m.Version = v.text("creation_date"), v.text("version")
	if d, err := v.file.Dataset(parameters + "/film_normal"); err == nil && d.Len() == 3 {
		v.m.FilmNormal, _ = d.Float64s()
	}
	return nil
}

func (v *volume) lacks(key string, err error) error {
	if errors.Is(err, hdf5.ErrNotFound) {
		e := v.bad(key, "give the file of a morphology", "it is missing")
		e.Err = err
		return e
	}
	return err
}

// text reads a remark, or "" if there is none.
func (v *volume) text(key string) string {
	d, err := v.file.Dataset(parameters + "/" + key)
	if err != nil || d.Len() != 1 {
		return ""
	}
	if s, err := d.Text(); err == nil {
		return s
	}
	if x, err := d.Float64(); err == nil {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return ""
}

// materials compares NumMaterial with the datasets.
func (v *volume) materials() error {
	key := parameters + "/NumMaterial"
	d, err := v.file.Dataset(key)
	if err != nil {
		return v.lacks(key, err)
	}
	n, err := d.Int64()
	if err != nil {
		return err
	}
	keys, err := v.file.Keys(v.group)
	if err != nil {
		return err
	}
	first := parts[v.m.Type][0].key
	var found []int
	for _, k := range keys {
		digits, ok1 := strings.CutPrefix(k, "Mat_")
		digits, ok2 := strings.CutSuffix(digits, "_"+first)
		if i, err := strconv.Atoi(digits); ok1 && ok2 && err == nil {
			found = append(found, i)
		}
	}
	slices.Sort(found)
	if n < 1 || int64(len(found)) != n || found[0] != 1 || int64(found[n-1]) != n {
		return v.bad(key, "number the materials from 1 and set NumMaterial to their number", "it is %d, but %s has Mat_i_%s of %d materials: %v",
			n, v.group, first, len(found), found[:min(len(found), 10)])
	}
	v.m.Phases = make([]Phase, n)
	return nil
}

// axes takes the shape and the order of axes from the first dataset, and bounds the memory.
func (v *volume) axes() error {
	key := v.key(0, parts[v.m.Type][0])
	d, err := v.file.Dataset(key)
	if err != nil {
		return err
	}
	s := d.Shape()
	if len(s) != 3 || s[0] < 1 || s[1] < 1 || s[2] < 1 {
		return v.bad(key, "want three axes such as Z, Y, X", "it has the shape %v", s)
	}
	if v.order, err = v.labels(d); err != nil {
		return err
	}
	if v.order == "XYZ" {
		slices.Reverse(s)
	}
	v.m.Shape = [3]int(s)
	per := 4.0
	if v.o.Double {
		per = 8
	}
	fields := 0
	for i := range v.m.Phases {
		for _, p := range parts[v.m.Type] {
			if v.file.Has(v.key(i, p)) {
				fields += p.n
			}
		}
	}
	if want := float64(s[0]) * float64(s[1]) * float64(s[2]) * per * float64(fields); want > float64(v.file.MaxBytes) {
		return v.bad(key, "copy the file again", "the shape %v and %d fields make %.0f bytes, more than the file can hold (%d)", s, fields, want, v.file.MaxBytes)
	}
	return nil
}

// labels returns the order of the axes.
func (v *volume) labels(d *hdf5.Dataset) (string, error) {
	try := "label the axes Z, Y, X or X, Y, Z; in h5py: d.dims[0].label = 'Z'"
	a, err := v.file.Attr(d.Path(), "DIMENSION_LABELS")
	if err != nil {
		e := v.bad(d.Path(), try, "its axes have no labels")
		e.Err = ErrIncomplete
		return "", e
	}
	l, err := a.Strings()
	if err != nil {
		return "", err
	}
	switch {
	case len(l) >= 3 && l[0] == "Z" && l[2] == "X":
		return "ZYX", nil
	case len(l) >= 3 && l[0] == "X" && l[2] == "Z":
		return "XYZ", nil
	}
	return "", v.bad(d.Path(), try, "its axes are labelled %q", l[:min(len(l), 4)])
}

func (v *volume) key(i int, p part) string {
	return path.Join(v.group, fmt.Sprintf("Mat_%d_%s", i+1, p.key))
}

// phase reads the fields of one material.
func (v *volume) phase(i int) error {
	ph := &v.m.Phases[i]
	all := parts[v.m.Type]
	if v.m.Type == Euler {
		isotropic, err := v.isotropic(i)
		if err != nil {
			return err
		}
		if isotropic {
			all = all[:1]
		}
	}
	for _, p := range all {
		f, err := v.field(v.key(i, p), p.n)
		if err != nil {
			return err
		}
		*p.field(ph) = f
	}
	ph.Theta.whereZero(ph.S)
	ph.Psi.whereZero(ph.S)
	return nil
}

// isotropic reports whether a phase has neither an order parameter nor angles. Angles without an
// order parameter are an error, because they show that one was intended.
func (v *volume) isotropic(i int) (bool, error) {
	key := v.key(i, parts[Euler][1])
	_, err := v.file.Dataset(key)
	if !errors.Is(err, hdf5.ErrNotFound) {
		return false, err
	}
	for _, p := range parts[Euler][2:] {
		if v.file.Has(v.key(i, p)) {
			e := v.bad(key, "give it, or leave out Theta and Psi of an isotropic material", "it is missing, although there is %s", v.key(i, p))
			e.Err = err
			return false, e
		}
	}
	return true, nil
}
