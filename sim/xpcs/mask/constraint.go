// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/spelling"
)

// The logic of a Constraint, And or Or, says how it joins those before it.
const (
	And = "AND" // keeps pixels that fulfil both; the default
	Or  = "OR"  // keeps pixels that fulfil either
)

// Constraint keeps the pixels whose value in a map lies in a range, both ends included.
//
// Azimuths (maps phi, chi and alpha in degrees, from -180 to 180) may be ranges across the cut: from
// 160 to 200, or from -200 to -150.
type Constraint struct {
	Map   string  `json:"map"`   // name of the map, such as "q"
	Logic string  `json:"logic"` // way to join the constraints before: And or Or. Default And
	Unit  string  `json:"unit"`  // unit of the map; "deg" marks azimuths
	Begin float64 `json:"begin"` // lower end of the range, in Unit
	End   float64 `json:"end"`   // upper end of the range, in Unit
}

// constrain applies constraints from left to right, beginning with all pixels.
func constrain(s Source, list []Constraint) (*Mask, error) {
	m := New(s.Height, s.Width)
	device, err := newSieve(s, len(list))
	if err != nil {
		return nil, err
	}
	if device != nil {
		defer device.free()
	}
	for k, c := range list {
		values, ok := s.Maps[c.Map]
		if !ok {
			names := slices.Sorted(maps.Keys(s.Maps))
			return nil, fmt.Errorf("mask: constraint %d is on the map %q, but there are only %q%s", k+1, c.Map, names, meant(c.Map, names))
		}
		if math.IsNaN(c.Begin) || math.IsNaN(c.End) {
			return nil, fmt.Errorf("mask: constraint %d on %s goes from %g to %g: want two numbers", k+1, c.Map, c.Begin, c.End)
		}
		if known := c.Logic == "" || c.Logic == And || c.Logic == Or; known && device != nil {
			if err := device.run("constraint", values, c.Begin, c.End, c.wrap(), flag(c.Logic == Or)); err != nil {
				return nil, err
			}
			continue
		}
		switch c.Logic {
		case "", And:
			for i, v := range values {
				m.Keep[i] = m.Keep[i] && c.holds(v)
			}
		case Or:
			for i, v := range values {
				m.Keep[i] = m.Keep[i] || c.holds(v)
			}
		default:
			return nil, fmt.Errorf("mask: constraint %d on %s is joined by %q: want %s or %s", k+1, c.Map, c.Logic, And, Or)
		}
	}
	if device != nil {
		return m, device.mask(m)
	}
	return m, nil
}

// holds reports whether a value lies in the range.
func (c Constraint) holds(v float64) bool {
	switch wrap := c.wrap(); {
	case wrap == 1 && v > c.End:
		v -= 360
	case wrap == 2 && v < c.Begin:
		v += 360
	}
	return v >= c.Begin && v <= c.End
}

// wrap says how a range of azimuths reaches across the cut: 1 from below -180, 2 beyond 180, and 0 not at all.
func (c Constraint) wrap() int32 {
	switch {
	case !c.azimuth():
	case c.Begin <= -180 && -180 <= c.End && c.End <= 180:
		return 1
	case c.End > 180 && -180 <= c.Begin && c.Begin <= 180:
		return 2
	}
	return 0
}

func (c Constraint) azimuth() bool {
	return c.Unit == "deg" && (c.Map == "phi" || c.Map == "chi" || c.Map == "alpha")
}

func meant(name string, names []string) string {
	if m := spelling.Meant(name, names); m != "" {
		return "; did you mean " + m + "?"
	}
	return ""
}
