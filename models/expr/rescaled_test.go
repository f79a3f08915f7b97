// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"math"
	"strings"
	"testing"
)

// Units of parameters follow from those of columns where the formula has units at all.
func TestUnitsOfParameters(t *testing.T) {
	for _, c := range []struct {
		text   string
		column string
		want   map[string]float64 // nil: there are none
	}{
		{"a*exp(-x/tau) + c", "y", map[string]float64{"a": 1, "c": 1, "tau": 0}},
		{"a*exp(-x/tau) + c", "x", map[string]float64{"a": 0, "c": 0, "tau": 1}},
		{"a + b*x + c*x^2", "x", map[string]float64{"a": 0, "b": -1, "c": -2}},
		{"gaussian(x, p_) + constant(x, c_)", "x", map[string]float64{"p_amplitude": 1, "p_center": 1, "p_sigma": 1, "c_c": 0}},
		{"gaussian(x, p_)", "y", map[string]float64{"p_amplitude": 1, "p_center": 0, "p_sigma": 0}},
		{"a*sin(w*x + p)", "x", map[string]float64{"a": 0, "w": -1, "p": 0}},
		{"sqrt(a*x)", "y", map[string]float64{"a": 2}},
		{"a*x^n", "x", nil},
		{"1 + b*x", "y", nil},
		{"a*exp(-x)", "x", nil},
	} {
		p := &Problem{Expr: c.text, Y: "y", Data: map[string]Column{"x": {Values: []float64{1, 2}}, "y": {Values: []float64{1, 2}}}}
		got := p.exponents(c.column)
		if (got == nil) != (c.want == nil) {
			t.Errorf("%s in %s: %v, want %v", c.text, c.column, got, c.want)
		}
		for name, k := range c.want {
			if math.Abs(got[name]-k) > 1e-9 {
				t.Errorf("%s in %s: %v, want %v", c.text, c.column, got, c.want)
			}
		}
	}
}

// Data of which no squares can be made are fitted in other units, and give the results of the same data in usual ones; a formula without units is refused.
func TestFitsInOtherUnits(t *testing.T) {
	x, y := []float64{0, 1, 2, 3, 4, 5, 6}, []float64{6, 4.9, 4.1, 3.3, 2.9, 2.4, 2.2}
	scaled := func(v []float64, by float64) []float64 {
		out := make([]float64, len(v))
		for i := range v {
			out[i] = v[i] * by
		}
		return out
	}
	fit := func(p *Problem) []float64 {
		if _, err := p.Guess(context.Background()); err != nil {
			t.Fatal(err)
		}
		least, s, err := p.LeastSquares()
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := p.Fit(context.Background(), least, s)
		if err != nil {
			t.Fatal(err)
		}
		return append(r.X, r.SD()...)
	}
	of := func(text string, x, y []float64) *Problem {
		return &Problem{Expr: text, Y: "y", Data: map[string]Column{"x": {Values: x}, "y": {Values: y}}}
	}
	want := fit(of("a*exp(-x/tau) + c", x, y))
	for _, unit := range []float64{1e200, 1e-200, 1e300} {
		u := of("a*exp(-x/tau) + c", scaled(x, 1e180), scaled(y, unit)).Rescaled()
		if u == nil {
			t.Fatalf("no units for %g", unit)
		}
		got := fit(u.Problem)
		for i, name := range []string{"a", "c", "tau"} {
			own := map[string]float64{"a": unit, "c": unit, "tau": 1e180}[name]
			for _, k := range []int{i, i + 3} {
				if v := got[k] * (u.Units[name] / own); math.Abs(v/want[k]-1) > 1e-7 {
					t.Errorf("%s in %g: %g, want %g", name, unit, v, want[k])
				}
			}
		}
	}
	if of("1 + a*x", x, scaled(y, 1e200)).Rescaled() != nil || of("a*x", x, y).Rescaled() != nil {
		t.Error("want no other units")
	}
}

// Where y is rounded to 64-bit numbers, their distance is in the errors; where decimals are as coarse as to hide them, that is told.
func TestRoundingIsInTheErrors(t *testing.T) {
	for _, c := range []struct {
		offset, step, sd float64
		told             string
	}{{1e15, 0.125, 0.0014, "64-bit numbers, which are 0.12 apart"}, {0, 0, 0, "y is written in steps of 1, and"}} {
		n := 20
		if c.step == 0 {
			n = 4
		}
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64(i)
			y[i] = c.offset + x[i]
		}
		p := &Problem{Expr: "a + b*x", Y: "y", Data: map[string]Column{"x": {Values: x}, "y": {Values: y}}, Start: map[string]Values{"a": {1}, "b": {2}}}
		least, s, err := p.LeastSquares()
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := p.Fit(context.Background(), least, s)
		if err != nil {
			t.Fatal(err)
		}
		if sd := r.SD()[1]; math.Abs(sd-c.sd) > 1e-4 || !strings.Contains(strings.Join(r.Warnings, " "), c.told) {
			t.Errorf("offset %g: b = %g +- %g: %q", c.offset, r.X[1], sd, r.Warnings)
		}
	}
}
