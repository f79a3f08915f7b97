// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// bare returns the name of a parameter without the suffix of a measurement.
func (t *Task) bare(name string) string {
	for _, m := range t.models() {
		if m.Suffix != "" {
			name = strings.TrimSuffix(name, m.Suffix)
		}
	}
	return name
}

// has reports whether a parameter is searched for or held, by each measurement for itself or by all together.
func (t *Task) has(name string) bool {
	if _, ok := t.start(name); ok {
		return true
	}
	return !slices.ContainsFunc(t.models(), func(m *Model) bool {
		_, ok := t.start(name + m.Suffix)
		return !ok
	})
}

// lacks returns why no measurement can have a parameter, and "" if one can.
func (t *Task) lacks(name string) (why string) {
	if m, of := strings.CutPrefix(name, "twist_"); of {
		if i, err := strconv.Atoi(m); err == nil && (i > len(t.Model.Tables) || t.Model.Tables[i-1].Second == nil) {
			return fmt.Sprintf("material %d has no constants along three axes", i)
		}
	}
	for _, m := range t.models() {
		if why = m.Data.lacks(name); why == "" {
			return ""
		}
	}
	return why
}

// lacks returns why the data cannot have a parameter of the measurement, and "" if they can.
func (d *Data) lacks(name string) string {
	ratios := !slices.ContainsFunc(d.Frames, func(f Frame) bool { return f.Bins == nil || f.Bins.Less == nil })
	switch {
	case d.Fan != nil && slices.Contains([]string{"centre_x", "centre_y", "distance", "rot1", "rot2", "rot3", "resolution"}, name):
		return `the detector is not known: give "geometry" with distance, pixel, beam and shape`
	case name == "pedestal" && !slices.ContainsFunc(d.Frames, func(f Frame) bool { return f.Bins == nil }):
		return "reduced numbers have no pedestal of their pixels"
	case ratios && name == "log_scale":
		return "A(q) does not depend on the scale of the intensities"
	}
	return ""
}

// energies returns the photon energies in eV by the numbers that names of parameters have.
func (m *Model) energies() []float64 {
	if m.Numbering != nil {
		return m.Numbering
	}
	return m.Data.energies()
}

// united returns the photon energies of several measurements, each once.
func united(list []*Data) (out []float64) {
	for _, d := range list {
		for _, e := range d.energies() {
			if !slices.ContainsFunc(out, func(x float64) bool { return math.Abs(x-e) < sameEnergy }) {
				out = append(out, e)
			}
		}
	}
	return out
}
