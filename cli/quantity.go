// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// quantity is the value of a flag with a unit, such as 75um. A number without a unit is in the first of them.
type quantity struct {
	value float64
	units []unit
	set   bool
}

type unit struct {
	name  string
	scale float64 // value of one such unit in the unit that the program uses
}

var (
	lengthUnits = []unit{{"m", 1}, {"cm", 1e-2}, {"mm", 1e-3}, {"um", 1e-6}, {"µm", 1e-6}}
	pixelUnits  = []unit{{"px", 1}}
	energyUnits = []unit{{"keV", 1}, {"eV", 1e-3}}
	timeUnits   = []unit{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}}
	angleUnits  = []unit{{"deg", math.Pi / 180}, {"rad", 1}, {"mrad", 1e-3}}
)

// String returns the value as it can be typed again.
func (q *quantity) String() string {
	if q == nil || !q.set || len(q.units) == 0 {
		return ""
	}
	return strconv.FormatFloat(q.value/q.units[0].scale, 'g', -1, 64) + q.units[0].name
}

// Type names the unit of a plain number, for help texts.
func (q *quantity) Type() string { return q.units[0].name }

// Set reads a number with or without a unit.
func (q *quantity) Set(s string) error {
	number, scale, names := s, q.units[0].scale, []string{}
	for _, u := range q.units {
		names = append(names, u.name)
		if n, ok := strings.CutSuffix(s, u.name); ok && plain(n) {
			number, scale = n, u.scale
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("want a number, followed by %s or by no unit", strings.Join(names, ", "))
	}
	q.value, q.set = v*scale, true
	return nil
}

func plain(s string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return err == nil
}

// or returns the value if it was given, and other if not.
func (q *quantity) or(other float64) float64 {
	if q.set {
		return q.value
	}
	return other
}
