// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/models/expr"
)

// inside puts a problem whose numbers have no squares into other units, which it returns, where the formula has such units and nothing else is compared.
func (u *uncertainty) inside(a *frame.App, f **expr.Problem, path string) map[string]float64 {
	if u.choices.values != "" || len(u.choices.formulas) > 0 {
		return nil
	}
	other := (*f).Rescaled()
	if other == nil {
		return nil
	}
	a.Note("%s: %s", path, other.Told())
	*f = other.Problem
	return other.Units
}

// unit is that of a parameter or a column inside.
func (f *fitted) unit(name string) float64 {
	if unit := f.units[base(name)]; unit != 0 {
		return unit
	}
	return 1
}

// times are values of a column in the unit of the table.
func (f *fitted) times(name string, values []float64) []float64 {
	if f.unit(name) == 1 {
		return values
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = f.unit(name) * v
	}
	return out
}

// representable is a number times others, NaN where it is no 64-bit number.
func representable(x frame.Number, units ...float64) frame.Number {
	out := float64(x)
	for _, u := range units {
		out *= u
	}
	if x != 0 && (out == 0 || math.IsInf(out, 0)) && !math.IsInf(float64(x), 0) {
		return frame.Number(math.NaN())
	}
	return frame.Number(out)
}

// inUnitsOfTable puts what a document says of parameters into the units of the table.
func (f *fitted) inUnitsOfTable() {
	if f.units == nil {
		return
	}
	d := &f.doc
	own := map[string]string{} // for pictures, whose numbers are those of the fit
	maps.Copy(own, f.Problem.Units)
	for name, unit := range f.units {
		if _, column := f.Problem.Data[name]; !column && unit != 1 {
			own[name] = strings.TrimSpace(fmt.Sprintf("%g", unit) + " " + own[name])
		}
	}
	f.Problem.Units = own
	for _, name := range f.Result.Names {
		unit := f.unit(name)
		d.X[name], d.SD[name] = representable(d.X[name], unit), representable(d.SD[name], unit)
		for _, ends := range []map[string][]frame.Number{d.Interval, d.Interval68, d.Limits} {
			for i := range ends[name] {
				ends[name][i] = representable(ends[name][i], unit)
			}
		}
		if s := d.Bootstrap; s != nil {
			s.SD[name] = representable(s.SD[name], unit)
			for i := range s.Interval[name] {
				s.Interval[name][i] = representable(s.Interval[name][i], unit)
			}
		}
	}
	for _, m := range d.Minima {
		for name, x := range m.X {
			m.X[name] = representable(x, f.unit(name))
		}
	}
	for k := range d.Contours {
		c := &d.Contours[k]
		for i := range c.X {
			c.X[i], c.Y[i] = representable(c.X[i], f.unit(c.Names[0])), representable(c.Y[i], f.unit(c.Names[1]))
		}
	}
	for i, row := range d.Cov {
		for k := range row {
			row[k] = representable(row[k], f.unit(f.Result.Names[i]), f.unit(f.Result.Names[k]))
		}
	}
	if f.Problem.Sigma == "" {
		y := f.unit(f.Problem.Y)
		d.Cost, d.Reduced = representable(d.Cost, y, y), representable(d.Reduced, y, y)
	}
}
