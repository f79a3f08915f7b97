// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// shown lists the labels of an axis.
func shown(a *axis) string {
	var out []string
	for _, t := range a.ticks {
		if t.label != "" {
			out = append(out, t.label)
		}
	}
	return strings.Join(out, " ")
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		log    bool
		length float64 // points
		want   string
		title  string
	}{
		{0, 10, false, 300, "0 2 4 6 8 10", "x (s)"},
		{0, 1, false, 40, "0 0.5 1.0", "x (s)"},
		{-2.4, 2.4, false, 62, "−2 0 2", "x (s)"},
		{1e-5, 3e-5, false, 300, "1.0 1.5 2.0 2.5 3.0", "x (×10^{−5} s)"},
		{2e6, 8e6, false, 300, "2 3 4 5 6 7 8", "x (×10^{6} s)"},
		{12345.678, 12345.679, false, 300, "−1.0 −0.8 −0.6 −0.4 −0.2 0", "x − 12345.679 (×10^{−3} s)"},
		{1, 1000, true, 300, "1 10 100 1000", "x (s)"},
		{1e-6, 1, true, 300, "10^{−6} 10^{−5} 10^{−4} 10^{−3} 10^{−2} 10^{−1} 10^{0}", "x (s)"},
		{1e-6, 1, true, 90, "10^{−6} 10^{−4} 10^{−2} 10^{0}", "x (s)"},
		{0.003, 0.022, true, 250, "0.005 0.01 0.02", "x (s)"},
		{2, 3, true, 250, "2.0 2.2 2.4 2.6 2.8 3.0", "x (s)"},
	} {
		a := axis{label: "x (s)", log: c.log}
		a.limits(c.lo, c.hi)
		a.settle(vg.Length(c.length), true)
		if got := shown(&a); got != c.want || a.title() != c.title {
			t.Errorf("%g to %g on %g pt: %s, %s; want %s, %s", c.lo, c.hi, c.length, got, a.title(), c.want, c.title)
		}
	}
}

// Rows of a detector are counted from the top.
func TestRowsDown(t *testing.T) {
	a := axis{down: true}
	a.limits(-63.5, 0.5)
	a.settle(200, false)
	for _, k := range a.ticks {
		if k.label != "" && k.label != fmt.Sprint(math.Abs(k.at)) {
			t.Errorf("the label at %g is %q", k.at, k.label)
		}
	}
}

func TestAxisHoldsItsData(t *testing.T) {
	for _, v := range [][]float64{{0}, {5}, {-1e300}, {1e-320}, {math.MaxFloat64, -math.MaxFloat64}, {1, 1 + 1e-15}, {math.NaN(), 2}} {
		for _, log := range []bool{false, true} {
			a := axis{log: log, pad: 0.05}
			a.include(v...)
			a.settle(200, true)
			for _, x := range v {
				if p := a.at(x); a.can(x) && !(p >= 0 && p <= 1) {
					t.Errorf("%g of %v lies at %g (log %v)", x, v, p, log)
				}
			}
			for _, k := range a.ticks {
				if p := a.at(k.at); math.IsNaN(p) {
					t.Errorf("tick %v of %v at NaN", k, v)
				}
			}
		}
	}
}

func TestTextLevels(t *testing.T) {
	for s, want := range map[string][]run{
		"g_{2}":      {{"g", 0}, {"2", -1}},
		"q (nm⁻¹)":   {{"q (nm", 0}, {"−1", 1}, {")", 0}},
		"10^{−5} s":  {{"10", 0}, {"−5", 1}, {" s", 0}},
		"log_tau ^{": {{"log_tau ^{", 0}},
		"x₁²":        {{"x", 0}, {"1", -1}, {"2", 1}},
	} {
		got := runs(s)
		if len(got) != len(want) {
			t.Errorf("%q: %v, want %v", s, got, want)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%q: %v, want %v", s, got, want)
			}
		}
	}
}

// A long name is divided at an underscore, so that it does not run into the labels of neighbouring plots.
func TestLongLabelsAreDivided(t *testing.T) {
	w := labelText.width("log_gamma_dot")
	for s, want := range map[string][]string{
		"log_gamma_dot_t0 (s)": {"log_gamma_", "dot_t0", "(s)"},
		"tau (s)":              {"tau (s)"},
		"overwhelmingly (1)":   {"overwhelmingly", "(1)"},
	} {
		if got := broken(s, w); !slices.Equal(got, want) {
			t.Errorf("broken(%q) = %q, want %q", s, got, want)
		}
	}
}

// A line without values does not widen the axis along x.
func TestAxesHoldWhatIsDrawn(t *testing.T) {
	c := Curve{X: []float64{1, 2}, Y: []float64{1, 2}, LineX: []float64{1, 2, 9}, Line: []float64{1, 2, math.NaN()}}
	if p := c.panel(1); p.x.hi != 2 {
		t.Errorf("the axis ends at %g, want 2", p.x.hi)
	}
}

// A model of 0 has its residuals for data, which are drawn once.
func TestResidualsAreDrawnOnce(t *testing.T) {
	c := Curve{X: []float64{1, 2}, Y: []float64{1, -1}, LineX: []float64{1, 2}, Line: []float64{0, 0}}
	f, err := Fit(c)
	if err != nil || len(f.grid.rows) != 1 {
		t.Error(err, "want one plot")
	}
}

// Long labels of which a wider step would leave one make room for each other.
func TestLongLabelsDoNotCollide(t *testing.T) {
	a := axis{pad: 0.03}
	a.include(-0.279, -0.2708)
	a.settle(80, true)
	shown := 0
	for _, k := range a.ticks {
		if k.label != "" {
			shown++
		}
	}
	if shown < 2 || a.crowded(80) {
		t.Errorf("%d labels, crowded: %v: %+v", shown, a.crowded(80), a.ticks)
	}
}
