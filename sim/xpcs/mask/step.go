// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Source holds what steps make masks from. All arrays are row-major (Height, Width).
type Source struct {
	Height, Width int
	Image         []float64 // mean intensity of each pixel, for thresholds and outliers; nil if there is none
	// Compact is the image with half of the bytes, in place of Image, where single precision holds its numbers exactly, such as counts
	// of 16 bits.
	Compact []float32
	Maps    map[string][]float64 // maps of the detector by name, such as "q" and "phi", for constraints and rings
	// Open returns the mask in a file, for steps that name one. It may return what package
	// data/maskfile reads.
	Open func(name string) (*Mask, error)
	// Backend chooses where thresholds and constraints are applied; masks do not depend on it.
	// Default: the CPU, which takes about as long as a GPU together with the copies to it.
	Backend ad.Backend
}

func (s Source) check() error {
	if err := checkShape(s.Height, s.Width); err != nil {
		return err
	}
	n := s.Height * s.Width
	if s.Image != nil && len(s.Image) != n {
		return fmt.Errorf("mask: the image has %d pixels, but the detector has %d x %d: use an image of this detector", len(s.Image), s.Height, s.Width)
	}
	if s.Compact != nil && (s.Image != nil || len(s.Compact) != n) {
		return fmt.Errorf("mask: the compact image has %d pixels for a detector of %d x %d, or stands beside another image: give one image of this detector", len(s.Compact), s.Height, s.Width)
	}
	for name, v := range s.Maps {
		if len(v) != n {
			return fmt.Errorf("mask: the map %s has %s, but the detector has %d x %d: use maps of this detector", name, errtext.Count(len(v), "pixel"), s.Height, s.Width)
		}
	}
	return nil
}

// finite returns a mask without the pixels of the image that are not finite, or the mask itself if all are.
func (s Source) finite(m *Mask) *Mask {
	if !slices.ContainsFunc(s.Image, math.IsNaN) && !slices.ContainsFunc(s.Compact, func(v float32) bool { return v != v }) {
		return m
	}
	m = &Mask{m.Height, m.Width, slices.Clone(m.Keep)}
	for i := range m.Keep {
		m.Keep[i] = m.Keep[i] && !math.IsNaN(s.at(i))
	}
	return m
}

// hasImage reports whether there is an image.
func (s Source) hasImage() bool { return s.Image != nil || s.Compact != nil }

// at returns the intensity of a pixel of the image.
func (s Source) at(i int) float64 {
	if s.Compact != nil {
		return float64(s.Compact[i])
	}
	return s.Image[i]
}

// whole returns the image in double precision.
func (s Source) whole() []float64 {
	if s.Compact == nil {
		return s.Image
	}
	out := make([]float64, len(s.Compact))
	for i, v := range s.Compact {
		out[i] = float64(v)
	}
	return out
}

// open returns the mask of a file for the detector.
func (s Source) open(name string) (*Mask, error) {
	if s.Open == nil {
		return nil, fmt.Errorf("mask: the file %q cannot be opened: set Source.Open", name)
	}
	m, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	if len(m.Keep) != m.Height*m.Width {
		return nil, fmt.Errorf("mask: the mask of %q has %d elements for %d x %d pixels: want one for each", name, len(m.Keep), m.Height, m.Width)
	}
	fitting, err := m.Fit(s.Height, s.Width)
	if err != nil {
		return nil, fmt.Errorf("%w (file %q)", err, name)
	}
	return fitting, nil
}

// Step is one way to make a mask. Exactly one field is set; in JSON its name is the kind of the step.
type Step struct {
	File        string       `json:"file,omitempty"`       // name of a mask file
	Threshold   *Threshold   `json:"threshold,omitempty"`  // limits of the intensity
	Constraints []Constraint `json:"constraints,omitzero"` // ranges of maps
	Pixels      [][2]int     `json:"pixels,omitzero"`      // pixels to mask, as (row, column)
	Draw        []Shape      `json:"draw,omitzero"`        // drawn regions
	Outliers    *Outliers    `json:"outliers,omitempty"`   // pixels unlike their neighbours in a ring or tile
}

// kinds returns the names of the fields that are set.
func (s Step) kinds() (names []string) {
	for _, k := range []struct {
		name string
		set  bool
	}{{"file", s.File != ""}, {"threshold", s.Threshold != nil}, {"constraints", s.Constraints != nil}, {"pixels", s.Pixels != nil}, {"draw", s.Draw != nil}, {"outliers", s.Outliers != nil}} {
		if k.set {
			names = append(names, k.name)
		}
	}
	return names
}

// Kind returns the kind of the step: file, threshold, constraints, pixels, draw or outliers.
func (s Step) Kind() string {
	if k := s.kinds(); len(k) == 1 {
		return k[0]
	}
	return ""
}

// Mask returns the mask of the step alone. Outliers are sought among the pixels that the mask now
// keeps, or among all if now is nil; regions say what is usual in their rings or tiles.
func (s Step) Mask(src Source, now *Mask) (m *Mask, regions []Region, err error) {
	if err := src.check(); err != nil {
		return nil, nil, err
	}
	if now == nil && s.Outliers != nil {
		now = New(src.Height, src.Width)
	}
	if now != nil && (now.Height != src.Height || now.Width != src.Width) {
		return nil, nil, fmt.Errorf("mask: a mask of %d x %d pixels does not fit a detector of %d x %d: use the mask of this detector", now.Height, now.Width, src.Height, src.Width)
	}
	switch s.Kind() {
	case "file":
		m, err = src.open(s.File)
	case "threshold":
		m, err = s.Threshold.mask(src)
	case "constraints":
		m, err = constrain(src, s.Constraints)
	case "pixels":
		m, err = remove(src.Height, src.Width, s.Pixels)
	case "draw":
		m, err = draw(src.Height, src.Width, s.Draw)
	case "outliers":
		m, regions, err = s.Outliers.mask(src, now)
	default:
		err = fmt.Errorf("mask: the step has the kinds %q: want exactly one of file, threshold, constraints, pixels, draw and outliers", s.kinds())
	}
	if err != nil {
		return nil, nil, err
	}
	return m, regions, nil
}

// UnmarshalJSON reads a step. Unknown fields, and pixels that do not have two numbers, are an
// error, because the mask would not be the same.
func (s *Step) UnmarshalJSON(b []byte) error {
	type plain Step
	all := struct {
		*plain
		Pixels []pixel `json:"pixels"`
	}{plain: (*plain)(s)}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return foreign.InWords(nil, err)
	}
	if s.Pixels = nil; all.Pixels != nil {
		s.Pixels = [][2]int{}
	}
	for _, p := range all.Pixels {
		s.Pixels = append(s.Pixels, p)
	}
	return nil
}

// pixel is a (row, column) in JSON.
type pixel [2]int

func (p *pixel) UnmarshalJSON(b []byte) error { return pair(b, (*[2]int)(p)) }

// UnmarshalJSON reads a point, which has two numbers.
func (p *Point) UnmarshalJSON(b []byte) error { return pair(b, (*[2]float64)(p)) }

// pair reads an array of two numbers; package json takes shorter and longer ones for them.
func pair[T int | float64](b []byte, to *[2]T) error {
	var v []*T
	if err := json.Unmarshal(b, &v); err != nil || len(v) != 2 || v[0] == nil || v[1] == nil {
		return fmt.Errorf("%.40s: want an array of two numbers, row and column", b)
	}
	to[0], to[1] = *v[0], *v[1]
	return nil
}

// clone returns a copy that shares nothing with s.
func (s Step) clone() (c Step, err error) {
	b, err := json.Marshal(s)
	if err != nil {
		return c, fmt.Errorf("mask: the step cannot be written as JSON: %w: use finite numbers", err)
	}
	return c, json.Unmarshal(b, &c)
}
