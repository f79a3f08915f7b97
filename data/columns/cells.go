// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package columns

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/euryale-dev/euryale/internal/delimited"
)

// grouped is a number whose thousands are set apart by commas, blanks, apostrophes or underscores.
var grouped = regexp.MustCompile(`^[+-]?\d{1,3}((,\d{3})+|([ \x{a0}\x{202f}'’_]\d{3})+)(\.\d*)?$`)

// separators of thousands.
var thousands = strings.NewReplacer(",", "", " ", "", "\u00a0", "", "\u202f", "", "'", "", "’", "", "_", "")

// ungrouped are the numbers of a column in which some have marks of thousands, and none is anything else.
func ungrouped(cells []string) []float64 {
	out, some := make([]float64, len(cells)), false
	for i, s := range cells {
		s = strings.Trim(strings.TrimSpace(s), `"`)
		if grouped.MatchString(s) {
			s, some = thousands.Replace(s), true
		}
		x, err := delimited.Number(s)
		if err != nil {
			return nil
		}
		out[i] = x
	}
	if !some {
		return nil
	}
	return out
}

// layouts are the ways in which dates are written whose order is certain, and whether they have a time of day.
var layouts = []struct {
	layout string
	clock  bool
}{
	{"2006-01-02", false}, {"2006/01/02", false}, {"02.01.2006", false}, {"2006-01-02T15:04:05Z07:00", true}, {"2006-01-02T15:04:05", true}, {"2006-01-02 15:04:05", true},
	{"2006-01-02T15:04", true}, {"2006-01-02 15:04", true}, {"2006/01/02 15:04:05", true}, {"02.01.2006 15:04:05", true}, {"02.01.2006 15:04", true},
}

// dates are the numbers of a column of dates: days since the first one or, with times of day, seconds.
func dates(cells []string) (out []float64, first, unit string) {
	for _, l := range layouts {
		var start time.Time
		out = make([]float64, len(cells))
		ok, some := true, false
		for i, s := range cells {
			s = strings.Trim(strings.TrimSpace(s), `"`)
			if s == "" {
				out[i] = math.NaN()
				continue
			}
			at, err := time.Parse(l.layout, s)
			if err != nil {
				ok = false
				break
			}
			if !some {
				start, some, first = at, true, s
			}
			out[i] = at.Sub(start).Seconds()
			if !l.clock {
				out[i] = math.Round(out[i] / 86400)
			}
		}
		if ok && some {
			return out, first, map[bool]string{true: "s", false: "d"}[l.clock]
		}
	}
	return nil, "", ""
}

// read makes numbers of cells where they are numbers or dates, and says what was not plain.
func read(name string, cells []string) (v any, unit, note string) {
	plain := values(cells)
	if _, numbers := plain.([]float64); numbers {
		return plain, "", ""
	}
	if x := ungrouped(cells); x != nil {
		return x, "", fmt.Sprintf("numbers of %s have marks of thousands", name)
	}
	if x, first, unit := dates(cells); x != nil {
		return x, unit, fmt.Sprintf("%s holds dates, which are taken as %s since %s", name, map[string]string{"s": "seconds", "d": "days"}[unit], first)
	}
	return plain, "", ""
}

// joinNotes puts notes behind each other.
func joinNotes(notes ...string) string {
	var all []string
	for _, n := range notes {
		if n != "" {
			all = append(all, n)
		}
	}
	return strings.Join(all, "; ")
}
