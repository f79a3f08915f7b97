// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package unit reads the units that files of instruments give for their numbers, in the spellings of NeXus, APS, ESRF, PETRA
// and NSLS-II. There is one table for all readers; a unit that it does not have is an error that lists what it has.
package unit

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Kind is a kind of quantity, with the unit that numbers are converted to.
type Kind struct {
	name  string
	plain map[string]float64 // value of a unit in the unit of the kind, by its symbols and names
	// inverse lists units whose numbers are divided into 1 first, such as Hz for times.
	inverse map[string]float64
	listed  string // units to list in errors
}

// The kinds.
var (
	Length     = Kind{name: "length", plain: with(lengths, map[string]float64{"angstrom": 1e-10}, angstroms(1e-10)), listed: "m, cm, mm, um, nm or angstrom"}                                               // m
	Wavelength = Kind{name: "wavelength", plain: scaled(with(lengths, map[string]float64{"angstrom": 1e-10}, angstroms(1e-10)), 1e10), listed: "angstrom, nm, pm or m"}                                     // angstrom
	Time       = Kind{name: "time", plain: with(prefixed(1, []string{"s", "sec"}, []string{"second"}), clock), inverse: prefixed(1, []string{"hz"}, []string{"hertz"}), listed: "s, ms, us, ns, min or Hz"} // s
	Energy     = Kind{name: "energy", plain: energies, listed: "keV, eV, MeV or J"}                                                                                                                         // keV
	Angle      = Kind{name: "angle", plain: angles, listed: "deg, rad or mrad"}                                                                                                                             // rad
	Pixel      = Kind{name: "number of pixels", plain: map[string]float64{"pixel": 1, "pixels": 1, "px": 1, "pix": 1}, listed: "pixel"}
)

var (
	lengths = prefixed(1, []string{"m"}, []string{"meter", "metre"})
	clock   = map[string]float64{"min": 60, "minute": 60, "minutes": 60, "h": 3600, "hr": 3600, "hour": 3600, "hours": 3600}
	angles  = with(map[string]float64{"deg": math.Pi / 180, "degree": math.Pi / 180, "degrees": math.Pi / 180, "degs": math.Pi / 180, "°": math.Pi / 180},
		prefixed(1, []string{"rad"}, []string{"radian"}))
	energies = with(scaled(prefixed(1, []string{"ev"}, []string{"electronvolt", "electron volt"}), 1e-3), map[string]float64{"j": 1 / 1.602176634e-16, "joule": 1 / 1.602176634e-16, "joules": 1 / 1.602176634e-16})
)

// prefixes are those of the SI that instruments use. Symbols are those of powers of ten; names go before names.
var prefixes = []struct {
	symbols []string
	name    string
	factor  float64
}{
	{[]string{""}, "", 1}, {[]string{"k"}, "kilo", 1e3}, {[]string{"M"}, "mega", 1e6}, {[]string{"G"}, "giga", 1e9}, {[]string{"c"}, "centi", 1e-2}, {[]string{"m"}, "milli", 1e-3},
	{[]string{"u", "µ", "μ"}, "micro", 1e-6}, {[]string{"n"}, "nano", 1e-9}, {[]string{"p"}, "pico", 1e-12}, {[]string{"f"}, "femto", 1e-15},
}

// prefixed returns a unit with all prefixes, in lower case but for the prefix M.
func prefixed(factor float64, symbols, names []string) map[string]float64 {
	out := map[string]float64{}
	for _, p := range prefixes {
		for _, symbol := range p.symbols {
			for _, s := range symbols {
				out[symbol+s] = p.factor * factor
			}
		}
		for _, n := range names {
			out[p.name+n], out[p.name+n+"s"] = p.factor*factor, p.factor*factor
		}
	}
	if _, isLength := out["meter"]; isLength {
		out["micron"], out["microns"] = 1e-6*factor, 1e-6*factor
	}
	for _, s := range symbols { // msec and usec as programs write them
		if s == "sec" {
			for _, p := range []string{"", "m", "u", "n"} {
				out[p+"secs"] = out[p+"sec"]
			}
		}
	}
	return out
}

// angstroms are the spellings of the angstrom.
func angstroms(v float64) map[string]float64 {
	out := map[string]float64{}
	for _, s := range []string{"a", "å", "a\u030a", "\u212b", "aa", "ang", "angs", "angstrom", "angstroms", "ångström", "ångstrom", "angstroem"} {
		out[s] = v
	}
	return out
}

func with(tables ...map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for _, t := range tables {
		for k, v := range t {
			out[k] = v
		}
	}
	return out
}

func scaled(t map[string]float64, by float64) map[string]float64 {
	out := map[string]float64{}
	for k, v := range t {
		out[k] = v * by
	}
	return out
}

// Convert returns a number of the given unit in the unit of the kind. The unit may have any case where that leaves it clear, and blanks and
// a full stop around it. It returns an error that lists the units if it is not known.
func (k Kind) Convert(v float64, unit string) (float64, error) {
	for _, s := range readings(unit) {
		if f, ok := k.plain[s]; ok {
			return v * f, nil
		}
		if f, ok := k.inverse[s]; ok {
			return 1 / (v * f), nil
		}
	}
	return math.NaN(), fmt.Errorf("its unit %q is not one of a %s: want %s", unit, k.name, k.listed)
}

// Knows reports whether a unit is one of the kind.
func (k Kind) Knows(unit string) bool {
	_, err := k.Convert(1, unit)
	return err == nil
}

// readings returns how a unit may be read, the likeliest first: M before a symbol is mega only in capitals, and MM is mm.
func readings(unit string) []string {
	s := strings.TrimSuffix(strings.TrimSpace(unit), ".")
	if s == "" {
		return nil
	}
	lower := strings.ToLower(s)
	out := []string{lower}
	if len(s) > 1 && s[0] == 'M' && strings.ToUpper(s) != s {
		out = []string{"M" + lower[1:]}
		if _, long := longNames[lower]; long {
			out = append(out, lower)
		}
	}
	return slices.Compact(out)
}

// longNames are names in words, which may begin with a capital M.
var longNames = with(prefixed(1, nil, []string{"meter", "metre", "second", "electronvolt", "radian", "hertz"}), clock, map[string]float64{"microns": 1, "micron": 1})
