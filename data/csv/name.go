// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package csv

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/spelling"
)

// aliases maps further names of columns, in lower case, to their proper names.
var aliases = map[string]string{
	"bin": "bin", "qbin": "bin", "q_bin": "bin",
	"tau": "tau", "t": "tau", "t_el": "tau", "delay": "tau", "lag": "tau", "τ": "tau",
	"g2": "g2", "g_2": "g2",
	"g2_err": "g2_err", "g2err": "g2_err", "err": "g2_err", "error": "g2_err", "sigma": "g2_err", "sd": "g2_err", "g2_sd": "g2_err", "g2_error": "g2_err",
	"age": "age", "q": "q", "phi": "phi", "azimuth": "phi",
	"samples": "samples", "pixels": "samples", "skew": "skew",
}

// covariance is the name of a column of covariances.
var covariance = regexp.MustCompile(`^(?:g2_)?cov_([1-9][0-9]{0,6})$`)

// unit is a factor to seconds, times/per. Dividing by a power of ten rounds once, multiplying by its
// inverse twice.
type unit struct{ times, per float64 }

// units are the units of tau and age.
var units = map[string]unit{"": {1, 1}, "s": {1, 1}, "sec": {1, 1}, "ms": {1, 1e3}, "us": {1, 1e6}, "µs": {1, 1e6}, "μs": {1, 1e6},
	"ns": {1, 1e9}, "min": {60, 1}, "h": {3600, 1}}

// unitsOf are the units of the columns that have some, and what to say of others.
var unitsOf = map[string]struct {
	known map[string]unit
	want  string
}{
	"tau": {units, "s, ms, us, ns, min or h"}, "age": {units, "s, ms, us, ns, min or h"},
	"q":   {map[string]unit{"": {1, 1}, "1/a": {1, 1}, "1/å": {1, 1}, "1/angstrom": {1, 1}, "a^-1": {1, 1}, "å^-1": {1, 1}, "1/nm": {1, 10}, "nm^-1": {1, 10}}, "1/A or 1/nm"},
	"phi": {map[string]unit{"": {1, 1}, "deg": {1, 1}, "°": {1, 1}}, "deg"},
}

// parseName reads a column's name and unit: "tau", "tau (ms)", "tau[us]".
func parseName(cell string) (column, error) {
	full := strings.ToLower(strings.Trim(strings.TrimSpace(cell), `"`))
	name, symbol := full, ""
	if i := strings.IndexAny(full, "(["); i >= 0 {
		name, symbol = strings.TrimSpace(full[:i]), strings.Trim(full[i:], "()[] ")
	}
	if stem, last, ok := cutLast(name, "_"); ok && symbol == "" && aliases[name] == "" && unitsOf[aliases[stem]].known[last] != (unit{}) {
		name, symbol = stem, last // tau_ms
	}
	if m := covariance.FindStringSubmatch(name); m != nil && symbol == "" {
		n, err := strconv.Atoi(m[1])
		return column{"cov_" + m[1], unit{1, 1}, n, false}, err
	}
	known, ok := aliases[name]
	if !ok {
		return column{}, fmt.Errorf("there is no column %q%s: the columns are bin, age, q, phi, tau, g2, g2_err, samples, skew, cov_1, cov_2 and so on", shorten(cell), guess(name))
	}
	of, has := unitsOf[known]
	scale, ok := of.known[symbol]
	switch {
	case has && !ok:
		return column{}, fmt.Errorf("%s has the unknown unit %q: want %s", known, shorten(symbol), of.want)
	case !has && symbol != "" && symbol != "1":
		return column{}, fmt.Errorf("column %s has no unit, but %q is given: remove it", known, shorten(symbol))
	}
	return column{known, scale, 0, has && symbol == ""}, nil
}

// cutLast cuts a text at the last separator.
func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// others are names that mean a column and are not taken for it, since they may mean something else too.
var others = map[string]string{"time": "tau", "lagtime": "tau", "lag_time": "tau", "delay_time": "tau", "correlation": "g2", "g": "g2", "c": "g2", "g2-1": "g2", "weight": "g2_err", "std": "g2_err"}

// guess asks whether a column with a name of its kind was meant, or returns "" if none is near.
func guess(name string) string {
	meant := others[name]
	if meant == "" {
		if near := spelling.Meant(shorten(name), slices.Collect(maps.Keys(aliases))); near != "" {
			meant = nearest(name)
		}
	}
	if meant == "" {
		return ""
	}
	return ": did you mean " + meant + "?"
}

// nearest returns the column whose name, or alias, differs least from a cell.
func nearest(name string) string {
	best, least := "tau", 1<<30
	for _, known := range []string{"bin", "age", "q", "phi", "tau", "g2", "g2_err", "samples", "skew"} {
		for alias, of := range aliases {
			if d := spelling.Distance(alias, shorten(name)); of == known && d < least {
				best, least = known, d
			}
		}
	}
	return best
}
