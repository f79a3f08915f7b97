// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// Quantity is the value of a flag with a unit, such as 75um. A number without a unit is in the first of them.
type Quantity struct {
	Value float64
	Units []Unit
	Given bool
	bare  bool // whether it was given without a unit
}

// Unit is a unit in which a quantity can be given.
type Unit struct {
	Name  string
	Scale float64 // value of one such unit in the unit that the program uses
}

var (
	LengthUnits = []Unit{{"m", 1}, {"mm", 1e-3}, {"um", 1e-6}, {"µm", 1e-6}, {"cm", 1e-2}}
	PixelUnits  = []Unit{{"px", 1}}
	EnergyUnits = []Unit{{"keV", 1}, {"eV", 1e-3}}
	TimeUnits   = []Unit{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"ns", 1e-9}}
	AngleUnits  = []Unit{{"deg", math.Pi / 180}, {"rad", 1}, {"mrad", 1e-3}}
)

// String returns the value as it can be typed again.
func (q *Quantity) String() string {
	if q == nil || !q.Given || len(q.Units) == 0 {
		return ""
	}
	return strconv.FormatFloat(q.Value/q.Units[0].Scale, 'g', -1, 64) + q.Units[0].Name
}

// Type names the unit of a plain number, for help texts.
func (q *Quantity) Type() string { return q.Units[0].Name }

// Set reads a number with or without a unit.
func (q *Quantity) Set(s string) error {
	number, scale, names, bare := s, q.Units[0].Scale, []string{}, true
	for _, u := range q.Units {
		names = append(names, u.Name)
		if n, ok := strings.CutSuffix(s, u.Name); ok && plain(n) {
			number, scale, bare = n, u.Scale, false
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		if d := foreign.Decimal(s); d != "" {
			return errors.New(foreign.NumberTry(s, ""))
		}
		return fmt.Errorf("want a number, followed by %s or by no unit%s", strings.Join(names, ", "), q.meant(s))
	}
	q.Value, q.Given, q.bare = v*scale, true, bare
	return nil
}

// meant says which photon energy a wavelength is, if one was given in its place, or returns "".
func (q *Quantity) meant(s string) string {
	if q.Units[0].Name != "keV" {
		return ""
	}
	for unit, angstroms := range map[string]float64{"A": 1, "Å": 1, "angstrom": 1, "nm": 10, "pm": 0.01} {
		if n, ok := strings.CutSuffix(s, unit); ok && plain(n) {
			if v, _ := strconv.ParseFloat(strings.TrimSpace(n), 64); v > 0 {
				return fmt.Sprintf("; the photon energy at a wavelength of %s is %.6gkeV", s, hc/(v*angstroms))
			}
		}
	}
	return ""
}

// hc is the product of a photon's energy and its wavelength in keV angstrom.
const hc = 12.39841984

// Otherwise says in which unit a number that was given without one lies from least to most, or returns "".
func (q *Quantity) Otherwise(least, most float64) string {
	if !q.bare {
		return ""
	}
	number := q.Value / q.Units[0].Scale
	for _, u := range q.Units[1:] {
		if v := number * u.Scale; v >= least && v <= most {
			return fmt.Sprintf("; if it is in %s, write %g%s", u.Name, number, u.Name)
		}
	}
	return ""
}

func plain(s string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return err == nil
}

// Or returns the value if it was given, and other if not.
func (q *Quantity) Or(other float64) float64 {
	if q.Given {
		return q.Value
	}
	return other
}
