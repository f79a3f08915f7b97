// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/euryale-dev/euryale/internal/setting"
	sim "github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/mask"
)

const numberPattern = `([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)`

var (
	oneSided = regexp.MustCompile(`^([A-Za-z_]+)\s*(<=|>=|<|>)\s*` + numberPattern + `$`)
	twoSided = regexp.MustCompile(`^` + numberPattern + `\s*(<=|<)\s*([A-Za-z_]+)\s*(<=|<)\s*` + numberPattern + `$`)
)

// parameter reads ranges of maps such as "q>=0.002 & q<0.01". They hold from left to right.
func (m *maskSteps) parameter(text string) error {
	var list []mask.Constraint
	logic := mask.And
	for rest, more := text, true; more; {
		at := strings.IndexAny(rest, "&|")
		term := rest
		if more = at >= 0; more {
			term = rest[:at]
		}
		c, err := rangeOf(strings.TrimSpace(term))
		if err != nil {
			return err
		}
		c.Logic = logic
		list = append(list, c)
		if more {
			logic = map[byte]string{'&': mask.And, '|': mask.Or}[rest[at]]
			rest = rest[at+1:]
		}
	}
	return m.push(mask.Step{Constraints: list})
}

// rangeOf reads one range. Ends that do not belong to it are the next numbers inside.
func rangeOf(term string) (c mask.Constraint, err error) {
	c.Begin, c.End = -math.MaxFloat64, math.MaxFloat64
	limit := func(op, number string) error {
		v, err := setting.Finite(number)
		switch op {
		case ">=":
			c.Begin = v
		case ">":
			c.Begin = math.Nextafter(v, math.Inf(1))
		case "<=":
			c.End = v
		default:
			c.End = math.Nextafter(v, math.Inf(-1))
		}
		return err
	}
	if w := oneSided.FindStringSubmatch(term); w != nil {
		c.Map, err = w[1], limit(w[2], w[3])
	} else if w := twoSided.FindStringSubmatch(term); w != nil {
		c.Map = w[3]
		if err = limit(strings.ReplaceAll(w[2], "<", ">"), w[1]); err == nil {
			err = limit(w[4], w[5])
		}
	} else {
		err = fmt.Errorf("%q is not a range: want one like q>=0.002, q<0.01 or -30<=phi<=30", term)
	}
	if err == nil && c.Begin > c.End {
		err = fmt.Errorf("%q: no number lies between %g and %g: swap the two ends", term, c.Begin, c.End)
	}
	return c, err
}

// cut is how far beyond 180 degrees open ranges of azimuths end, so that pixels on the cut, of -180 or 180 degrees, belong to both sides.
const cut = 1e-9

// withUnits returns steps whose constraints have the units of the maps. Azimuths are ranges across the cut only if they end beyond
// 180 degrees, or begin below -180.
func withUnits(steps []mask.Step, g sim.Geometry) []mask.Step {
	for _, s := range steps {
		for k := range s.Constraints {
			c := &s.Constraints[k]
			if c.Unit = g.Unit(c.Map); c.Unit != "deg" {
				continue
			}
			if c.End == math.MaxFloat64 {
				c.End = 180 + cut
			}
			if c.Begin == -math.MaxFloat64 {
				c.Begin = -180 - cut
			}
		}
	}
	return steps
}
