// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/models/g2"
)

type goldenFit struct {
	Popt     []float64
	AtBound  []bool    `json:"at_bound"`
	Absolute []float64 `json:"perr_absolute"`
	Scaled   []float64 `json:"perr_scaled"`
	Reduced  float64   `json:"reduced_chi2"`
	Cost     float64
	Free     []bool
}

type goldenBin struct {
	Y, Yerr    []float64
	Q          any
	Tau        []float64
	TauErr     []float64 `json:"tau_err"`
	Golden     goldenFit
	FixedCD    *goldenFit `json:"golden_fixed_c1_d1"`
	PowerATQB  *goldenFit `json:"golden_aps_power_a_times_q_to_b"`
	ReferenceQ []float64
}

type goldenFits struct {
	X            []float64
	Lower, Upper []float64
	Params       []string
	Bins, Cases  []goldenBin
}

// compare checks a fit against an optimum refined in extended precision: 1e-8
// relative, 1e-6 with a parameter at its bound.
func compare(t *testing.T, what string, f g2.Fit, want goldenFit) (worst float64) {
	t.Helper()
	tol := 1e-8
	if slices.Contains(want.AtBound, true) {
		tol = 1e-6
	}
	if !f.OK() {
		t.Errorf("%s: %s: %s", what, f.Status, f.Message)
		return 0
	}
	check := func(name string, i int, got, w float64) {
		d := math.Abs(got-w) / max(math.Abs(w), 1e-300)
		worst = max(worst, d)
		if !(d <= tol) {
			t.Errorf("%s: %s of %s is %.12g, want %.12g (%.1e)", what, name, f.Model.Params[i].Name, got, w, d)
		}
	}
	k := 0
	for i, w := range want.Popt {
		if want.Free != nil && !want.Free[i] {
			if f.X[i] != w || f.Absolute[i] != 0 {
				t.Errorf("%s: fixed parameter %d is %g +- %g", what, i, f.X[i], f.Absolute[i])
			}
			continue
		}
		check("value", i, f.X[i], w)
		at := i
		if len(want.Absolute) < len(want.Popt) {
			at = k
		}
		check("absolute error", i, f.Absolute[i], want.Absolute[at])
		check("scaled error", i, f.Scaled[i], want.Scaled[at])
		k++
	}
	return worst
}

func TestFitsAgainstGoldens(t *testing.T) {
	var all map[string]json.RawMessage
	golden.JSON(t, &all, "xpcs", "g2fit", "g2fit.json")
	for name, text := range all {
		model, err := g2.ByName(name)
		if err != nil { // rules of failed bins, say
			t.Logf("not compared: %v", err)
			continue
		}
		var g goldenFits
		if err := json.Unmarshal(text, &g); err != nil {
			t.Fatal(err)
		}
		var curves []g2.Curve
		var want []goldenFit
		for i, b := range append(g.Bins, g.Cases...) {
			c := g2.Curve{Bin: i + 1, X: g.X, Y: b.Y, Err: b.Yerr}
			if b.Tau != nil {
				c.X, c.Y, c.Err = floats(b.Q), b.Tau, b.TauErr
			}
			curves, want = append(curves, c), append(want, b.Golden)
		}
		var s g2.Settings
		if name == "stretched" { // whose exponents the references kept below 1
			s.Bounds = map[string][2]float64{"beta": {0.01, 0.99}}
		}
		fits, err := g2.FitAll(context.Background(), model, curves, s)
		if err != nil {
			t.Fatal(err)
		}
		worst, evaluations := 0.0, 0
		for i, f := range fits {
			worst = max(worst, compare(t, name, f, want[i]))
			evaluations += f.NFev
		}
		t.Logf("%s: %d fits, largest relative deviation %.1e", name, len(fits), worst)
		for i, b := range append(g.Bins, g.Cases...) {
			if b.FixedCD != nil {
				f, err := g2.FitOne(context.Background(), model, curves[i], g2.Settings{Fixed: map[string]float64{"c": 1, "d": 1}})
				if err != nil {
					t.Fatal(err)
				}
				compare(t, name+" fixed", f, *b.FixedCD)
			}
			if b.PowerATQB != nil {
				aps, _ := g2.ByName("aps_power")
				f, err := g2.FitOne(context.Background(), aps, curves[i], g2.Settings{Bounds: map[string][2]float64{"b": {-10, 0}, "a": {1e-12, 1e6}}})
				if err != nil {
					t.Fatal(err)
				}
				compare(t, "aps_power", f, *b.PowerATQB)
			}
		}
	}
}

func floats(v any) []float64 {
	var out []float64
	for _, x := range v.([]any) {
		out = append(out, x.(float64))
	}
	return out
}
