// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"fmt"
	"path"
	"time"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// WriteSettings are the options of WriteMorphology.
type WriteSettings struct {
	Gzip int // compression level, from 1 (fast) to 9 (as in NRSS), or NoGzip; default 4, because 9 takes ten times as long for a file that is a tenth smaller
	// XYZ writes the axes in the order X, Y, Z. The default is Z, Y, X.
	XYZ bool
}

// NoGzip is the value of WriteSettings.Gzip that leaves fields uncompressed.
const NoGzip = -1

// WriteMorphology writes the HDF5 file of a volume, and overwrites an existing one. CyRSoXS, NRSS
// and ReadMorphology read it. Fields that are zero everywhere are stored as zeros, since NRSS
// requires all four of each material. An empty Created becomes the present date and time.
func WriteMorphology(name string, m *Morphology, o WriteSettings) error {
	if err := m.shapes().in(name); err != nil {
		return err
	}
	if o.Gzip < NoGzip || o.Gzip > 9 {
		return &FormatError{Format: "cyrsoxs", File: name, Place: "WriteSettings.Gzip", What: fmt.Sprintf("it is %d", o.Gzip), Try: "choose 1 to 9, or NoGzip"}
	}
	w, err := hdf5.Create(name)
	if err != nil {
		return fmt.Errorf("cyrsoxs: %w", err)
	}
	defer w.Discard()
	s := saver{w, m, o}
	for i := range m.Phases {
		for _, p := range parts[m.Type] {
			s.field(path.Join(group[m.Type], fmt.Sprintf("Mat_%d_%s", i+1, p.key)), *p.field(&m.Phases[i]), p.n)
		}
	}
	s.parameters()
	return w.Close()
}

// saver writes a morphology; its Writer keeps the first error.
type saver struct {
	*hdf5.Writer
	m *Morphology
	o WriteSettings
}

// field writes one dataset with labelled axes.
func (s saver) field(key string, f Field, n int) {
	l := hdf5.Layout{Shape: s.m.Shape[:], Gzip: s.o.Gzip, Shuffle: true}
	labels := []string{"Z", "Y", "X"}
	switch {
	case f.IsZero():
		f, l.Gzip = newField(s.m.Voxels()*n, s.m.isDouble()), max(l.Gzip, 1)
	case s.o.Gzip == 0:
		l.Gzip = 4
	case s.o.Gzip == NoGzip:
		l.Gzip, l.Shuffle = 0, false
	}
	if s.o.XYZ {
		f = turnBack(f, s.m.Shape, n)
		l.Shape = []int{s.m.Shape[2], s.m.Shape[1], s.m.Shape[0]}
		labels = []string{"X", "Y", "Z"}
	}
	if n > 1 {
		l.Shape = append(append([]int{}, l.Shape...), n)
		labels = append(labels, "")
	}
	s.Write(key, f.slice(), l)
	s.Attr(key, "DIMENSION_LABELS", labels)
}

func (s saver) parameters() {
	put := func(key string, value any) { s.Write(path.Join(parameters, key), value, hdf5.Layout{}) }
	put("PhysSize", s.m.PhysSize)
	put("NumMaterial", int64(len(s.m.Phases)))
	created := s.m.Created
	if created == "" {
		created = time.Now().Format("01/02/2006, 15:04:05") // as NRSS
	}
	put("creation_date", created)
	for _, r := range [][2]string{{"morphology_creator", s.m.Creator}, {"name", s.m.Name}, {"version", s.m.Version}} {
		if r[1] != "" {
			put(r[0], r[1])
		}
	}
	if s.m.FilmNormal != nil {
		put("film_normal", s.m.FilmNormal)
	}
}

// isDouble reports whether the first nonzero field is float64.
func (m *Morphology) isDouble() bool {
	for i := range m.Phases {
		for _, p := range parts[m.Type] {
			if f := p.field(&m.Phases[i]); !f.IsZero() {
				return f.Float64 != nil
			}
		}
	}
	return false
}
