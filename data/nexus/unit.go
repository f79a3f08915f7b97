// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"fmt"
	"slices"
	"strings"
)

// lengths lists the units whose inverse q may have, each with the factor times/per that converts an
// inverse length to 1/angstrom; dividing by a power of ten rounds only once.
var lengths = map[string]struct{ times, per float64 }{
	"a": {1, 1}, "å": {1, 1}, "a\u030a": {1, 1}, "aa": {1, 1}, "ang": {1, 1}, "angstrom": {1, 1}, "angstroms": {1, 1}, "ångström": {1, 1}, "ångstrom": {1, 1},
	"pm": {100, 1}, "nm": {1, 10}, "nanometer": {1, 10}, "nanometre": {1, 10}, "um": {1, 1e4}, "µm": {1, 1e4}, "μm": {1, 1e4}, "mm": {1, 1e7},
	"cm": {1, 1e8}, "m": {1, 1e10}, "meter": {1, 1e10}, "metre": {1, 1e10},
}

// plain removes the decoration of TeX and Python from a unit.
var plain = strings.NewReplacer(" ", "", "$", "", "{", "", "}", "", "(", "", ")", "", "\\", "", "mathrm", "", "rm", "", "**", "^", "⁻¹", "^-1", "−", "-")

// inverseLength returns the factor times/per from a unit of q to 1/angstrom. A missing unit is
// treated as 1/angstrom; ok is false for an unknown unit.
func inverseLength(unit string) (times, per float64, ok bool) {
	s := plain.Replace(strings.ToLower(unit))
	if s == "" {
		return 1, 1, true
	}
	length, over := strings.CutPrefix(s, "1/")
	if !over {
		for _, suffix := range []string{"^-1", "-1"} {
			if length, over = strings.CutSuffix(s, suffix); over {
				break
			}
		}
	}
	f, known := lengths[strings.TrimSuffix(length, ".")]
	return f.times, f.per, over && known
}

// convertQ converts the first axis of the bins to 1/angstrom if it is q. The unit is that of the q
// map or, if it has none, the attribute of the list of values.
func (l *loader) convertQ(q *QMap) {
	if len(q.Names) > 0 && !strings.HasPrefix(q.Names[0], "q") {
		return // such as x and y in pixels
	}
	for _, axis := range []struct {
		values []float64
		key    key
	}{{q.Dynamic.Axis0, keyDQ}, {q.Static.Axis0, keySQ}} {
		where := l.find(axis.key, false)
		unit := l.unitOf(where)
		if len(q.Units) > 0 {
			where, unit = l.find(keyUnits, false), q.Units[0]
		}
		times, per, ok := inverseLength(unit)
		if !ok {
			l.err = &KeyError{File: l.file.Name(), Key: where, What: fmt.Sprintf("it gives q in %.40q: correct the unit to 1/angstrom, 1/nm or another inverse length", unit)}
			return
		}
		for i := range axis.values {
			axis.values[i] = axis.values[i] * times / per
		}
	}
	if len(q.Units) > 0 {
		if times, per, _ := inverseLength(q.Units[0]); times != per {
			q.Units = slices.Clone(q.Units)
			q.Units[0] = "Å⁻¹"
		}
	}
}

// unitOf returns the attribute unit or units of a dataset, or "" if it has none.
func (l *loader) unitOf(path string) string {
	for _, name := range []string{"units", "unit"} {
		if a, err := l.file.Attr(path, name); err == nil {
			if s, err := a.Text(); err == nil {
				return s
			}
		}
	}
	return ""
}
