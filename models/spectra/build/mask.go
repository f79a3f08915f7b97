// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Mask is a condition under which a template is not to be used. All conditions that are set must
// hold.
type Mask struct {
	// File is the name of a template, with or without its folder, or a pattern of path.Match. Default: any.
	File string
	// Ranges holds the smallest and the largest values of parameters by name, both included.
	// Default: any.
	Ranges map[string][2]float64
}

// Apply marks the rows of a catalogue that satisfy one of the masks as bad, and removes no mark. It
// returns an error, and marks nothing, if a mask names an unknown parameter or sets nothing.
func Apply(c *rvspecfit.Catalog, masks []Mask) error {
	var wrong []error
	for i, m := range masks {
		if _, err := path.Match(m.File, ""); err != nil {
			wrong = append(wrong, fmt.Errorf("build: mask %d: the pattern %q: %w", i+1, m.File, err))
		}
		if m.File == "" && len(m.Ranges) == 0 {
			wrong = append(wrong, fmt.Errorf("build: mask %d sets no condition and would mark all templates: give it files or ranges", i+1))
		}
		for name, r := range m.Ranges {
			if !slices.Contains(c.ParNames, name) {
				wrong = append(wrong, fmt.Errorf("build: mask %d names the parameter %q: want one of %s", i+1, name, strings.Join(c.ParNames, ", ")))
			}
			if !(r[0] <= r[1]) {
				wrong = append(wrong, fmt.Errorf("build: mask %d has %s from %g to %g: want the lower first", i+1, name, r[0], r[1]))
			}
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	for i := range c.Entries {
		e := &c.Entries[i]
		e.Bad = e.Bad || slices.ContainsFunc(masks, func(m Mask) bool { return m.holds(c.ParNames, e) })
	}
	return nil
}

func (m *Mask) holds(names []string, e *rvspecfit.Entry) bool {
	if m.File != "" {
		whole, _ := path.Match(m.File, e.File)
		base, _ := path.Match(m.File, path.Base(e.File))
		if !whole && !base && m.File != e.File {
			return false
		}
	}
	for k, name := range names {
		if r, ok := m.Ranges[name]; ok && !(e.Params[k] >= r[0] && e.Params[k] <= r[1]) {
			return false
		}
	}
	return true
}

// ReadMasks reads masks from a CSV table with one mask in a row. Its columns are filename, and NAME_min and
// NAME_max of parameters; an empty field is no condition.
//
//	filename,teff_min,teff_max,logg_min,logg_max
//	,,2900,,1
//	lte05000-4.50-0.0.fits,,,,
func ReadMasks(name string) ([]Mask, error) {
	b, err := foreign.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(foreign.Unmarked(b)))
	head, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("build: %s: the first line: %w", name, err)
	}
	var masks []Mask
	for {
		row, err := r.Read()
		if err == io.EOF {
			return masks, nil
		}
		if err != nil {
			return nil, fmt.Errorf("build: %s: %w", name, err)
		}
		m, err := parseMask(head, row)
		if err != nil {
			line, _ := r.FieldPos(0)
			return nil, fmt.Errorf("build: %s: line %d: %w", name, line, err)
		}
		masks = append(masks, m)
	}
}

func parseMask(head, row []string) (Mask, error) {
	m := Mask{Ranges: map[string][2]float64{}}
	for i, key := range head {
		key, text := strings.TrimSpace(key), strings.TrimSpace(row[i])
		if key == "filename" {
			m.File = text
			continue
		}
		param, upper := strings.CutSuffix(key, "_max")
		param, lower := strings.CutSuffix(param, "_min")
		if upper == lower {
			return m, fmt.Errorf("the column %q is unknown: want filename, or a parameter followed by _min or _max", key)
		}
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) {
			return m, fmt.Errorf("%s is %q: want a number", key, text)
		}
		r, ok := m.Ranges[param]
		if !ok {
			r = [2]float64{math.Inf(-1), math.Inf(1)}
		}
		if upper {
			r[1] = v
		} else {
			r[0] = v
		}
		m.Ranges[param] = r
	}
	return m, nil
}
