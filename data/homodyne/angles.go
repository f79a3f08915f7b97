// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"bufio"
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// AngleFilter says which azimuths to use. The zero value uses all of them.
type AngleFilter struct {
	Ranges [][2]float64 // ranges of degrees, both ends included; a range whose second end is smaller passes through 180
	// All uses all angles if none is within the ranges.
	All bool
}

// Takes reports whether an azimuth, in degrees, is within a range. Whole turns are ignored.
func (a AngleFilter) Takes(phi float64) bool {
	for _, r := range a.Ranges {
		width := r[1] - r[0]
		if width < 0 {
			width += 360
		}
		const rounding = 1e-9
		from := math.Mod(phi-r[0], 360)
		if from < -rounding {
			from += 360
		}
		if from <= width+rounding || from >= 360-rounding {
			return true
		}
	}
	return len(a.Ranges) == 0
}

// mostText is the largest size of a text file that is read.
const mostText = 16 << 20

// ReadAngles reads a text file of azimuths in degrees, one per line. Text after # is a comment.
func ReadAngles(name string) ([]float64, error) {
	text, err := foreign.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if what := foreign.NotText(text); what != "" || len(text) > mostText {
		return nil, bad(name, "", "the file of %d bytes is %s; want a text with one angle per line", len(text), what)
	}
	var out []float64
	lines := bufio.NewScanner(bytes.NewReader(foreign.Unmarked(text)))
	for n := 1; lines.Scan(); n++ {
		s, _, _ := strings.Cut(lines.Text(), "#")
		for _, field := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, &FormatError{Format: "homodyne", File: name, Line: n, What: strconv.Quote(foreign.Short(field, 40)) + " is not a number of degrees", Try: "give one angle per line"}
			}
			out = append(out, v)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, &FormatError{Format: "homodyne", File: name, What: "the file cannot be read", Err: err}
	}
	if len(out) == 0 {
		return nil, bad(name, "", "the file has no angles; want one per line, in degrees")
	}
	return out, nil
}
