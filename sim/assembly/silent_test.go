// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// quiet is a brain in which nothing fires yet. The stimulus none has no neurons.
func quiet(t *testing.T, set Settings) *Brain {
	set.P, set.Seed = 0.2, 1
	b := New(set)
	check(t, b.AddStimulus("S", 30))
	check(t, b.AddStimulus("none", 0))
	for _, name := range []string{"A", "B", "C"} {
		check(t, b.AddArea(Area{Name: name, N: 300, K: 10, Beta: 0.1, Lazy: name == "C"}))
	}
	return b
}

// silences returns what an error says does not fire.
func silences(err error) (names []string) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range all.Unwrap() {
			names = append(names, silences(e)...)
		}
		return names
	}
	var s *SilentError
	if errors.As(err, &s) {
		names = append(names, s.Name)
	}
	return names
}

// Plans whose sources do not fire are refused, and change nothing; areas that the plan
// itself makes fire are no mistake, in whatever order it names them.
func TestSilentSources(t *testing.T) {
	for _, c := range []struct {
		fibres string
		silent string
	}{
		{"S>A", ""},
		{"S>A A>A", ""},
		{"B>C A>B S>A", ""},
		{"A>A", "A"},
		{"A>B", "A"},
		{"S>A B>C C>B", "B C"},
		{"S>A A>C B>C", "B"},
		{"none>A", "none"},
		{"none>A A>B", "none A"},
		{"none>A S>A", ""},
		{"none>A B>A", "none B"},
	} {
		b := quiet(t, Settings{})
		_, err := b.project(2, c.fibres)
		if got := strings.Join(silences(err), " "); got != c.silent || (err == nil) != (c.silent == "") {
			t.Errorf("%s: %v, want silent: %s", c.fibres, err, c.silent)
		}
		if err != nil && (b.step != 0 || len(winners(t, b, "A")) > 0) {
			t.Errorf("%s: the brain went on", c.fibres)
		}
		if trace := anyway(t, b, 2, c.fibres); len(trace) != 2 {
			t.Errorf("%s: %d steps anyway", c.fibres, len(trace))
		}
	}
}

// Areas that fell silent, are fixed without winners, or were cleared do not fire; those
// that are inhibited are meant not to; where silence can be an outcome it is none.
func TestSilentStates(t *testing.T) {
	for name, c := range map[string]struct {
		set    Settings
		before func(b *Brain) error
		fibres string
		says   string
	}{
		"fallen silent": {Settings{Activity: Silent}, func(b *Brain) error {
			_, err := b.project(1, "S>A")
			_, err2 := b.project(1, "S>B")
			return errors.Join(err, err2)
		}, "A>B", "area A does not fire now; 10 of its neurons have before"},
		"cleared": {Settings{}, func(b *Brain) error {
			_, err := b.Form("S", "A", 3)
			return errors.Join(err, b.SetWinners("A", nil))
		}, "A>A", "area A does not fire now"},
		"fixed":              {Settings{}, func(b *Brain) error { return b.Fix("A", true) }, "S>A", "fixed while it does not fire"},
		"from a fixed one":   {Settings{}, func(b *Brain) error { return b.Fix("A", true) }, "S>A A>B", "fibre A>B: area A does not fire"},
		"inhibited fibre":    {Settings{}, func(b *Brain) error { return b.InhibitFibre("A", "B", 3) }, "S>C A>B", ""},
		"inhibited area":     {Settings{}, func(b *Brain) error { return b.Inhibit("A", 3) }, "S>A A>A", ""},
		"behind inhibition":  {Settings{}, func(b *Brain) error { return b.InhibitFibre("S", "A", 3) }, "S>A A>B", "fibre A>B: area A does not fire"},
		"set to fire":        {Settings{}, func(b *Brain) error { return b.SetWinners("A", []int32{1}) }, "A>B", ""},
		"rival, never fired": {Settings{}, func(b *Brain) error { return b.Rivals("A", "B") }, "A>C", "area A does not fire, and never has"},
		"rival that lost": {Settings{}, func(b *Brain) error {
			_, err := b.Form("S", "A", 3)
			return errors.Join(err, b.Rivals("A", "B"), b.SetWinners("A", nil))
		}, "A>C", ""},
	} {
		b := quiet(t, c.set)
		check(t, c.before(b))
		_, err := b.project(1, c.fibres)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	b := quiet(t, Settings{})
	check(t, b.AddArea(Area{Name: "D", N: 300, K: 10, Column: Column{Policy: AtThreshold, Threshold: 5}}))
	must(t)(b.Form("S", "D", 3))
	check(t, b.SetWinners("D", nil)) // as if no neuron had come to its threshold
	must(t)(b.project(1, "D>A"))
	if w, err := b.Firing("D"); err != nil || len(w) > 0 {
		t.Errorf("%v, %v", w, err)
	}
}

// Operations on areas that do not fire, or over fibres that are inhibited, and measures
// of nothing, are errors or NaN, never 0.
func TestOperationsOnSilence(t *testing.T) {
	for name, do := range map[string]func(b *Brain) error{
		"completion in area A: area A does not fire":             func(b *Brain) error { _, err := b.Complete("A", 0.5, 5, 1); return err },
		"fibre A>B: area A does not fire":                        func(b *Brain) error { _, err := b.Reciprocal("A", "B", 5); return err },
		"fibre A>A A>B: area A does not fire":                    func(b *Brain) error { _, err := b.ProjectInto("none", "A", "B", 5); return err },
		"fibre B>B B>C: area B does not fire":                    func(b *Brain) error { _, err := b.Associate("S", "A", "none", "B", "C", 5); return err },
		"stimulus none has no neurons":                           func(b *Brain) error { _, err := b.Form("none", "A", 5); return err },
		"area B does not fire, and never has":                    func(b *Brain) error { _, err := b.Merge("S", "A", "none", "B", "C", 5); return err },
		"fibre A>C: area A does not fire":                        func(b *Brain) error { _, err := b.Separate("A", "C", nil, []int32{1}, 5); return err },
		"fibre B>C: area B does not fire":                        func(b *Brain) error { _, _, err := b.Preserve("B", "C", []int32{1}, nil); return err },
		"fibre C>C: area C does not fire":                        func(b *Brain) error { _, err := b.Settle(0, 5, "C>C"); return err },
		"block of area A: area A does not fire":                  func(b *Brain) error { _, _, err := b.Block("A"); return err },
		"density of area A: area A does not fire":                func(b *Brain) error { _, _, err := b.Density("A"); return err },
		"winners of area B: area B does not fire, and never has": func(b *Brain) error { _, err := b.Firing("B"); return err },
		"needs the fibres [S>A A>A A>C], but they or":            func(b *Brain) error { b.Inhibit("A", 0); _, err := b.Merge("S", "A", "S", "B", "C", 5); return err },
		"needs the fibres [A>A], but they or their areas are inhibited": func(b *Brain) error {
			_, err := b.Form("S", "A", 2)
			_, err2 := b.Complete("A", 0.5, 0, 1)
			b.Inhibit("A", 0)
			_, err3 := b.Complete("A", 0.5, 5, 1)
			return errors.Join(err, err2, err3)
		},
		"a fraction 0.05 of the 10 winners of area A is less than one neuron, and completes nothing: want at least 1/10": func(b *Brain) error {
			_, err := b.Form("S", "A", 2)
			_, err2 := b.Complete("A", 0.05, 5, 1)
			return errors.Join(err, err2)
		},
	} {
		err := do(quiet(t, Settings{}))
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
		if silent := strings.Contains(name, "does not fire") || strings.Contains(name, "has no neurons"); silent != (len(silences(err)) > 0) {
			t.Errorf("%v of type %T, silent %v", err, err, silent)
		}
	}
	b := quiet(t, Settings{})
	s, err := b.Statistics("C", "C") // lazy, and none of its neurons has fired
	check(t, err)
	for i, v := range []float64{Overlap(nil, []int32{1}, 3), Overlap([]int32{1}, nil, 3), s.Density, s.WeightMean, s.InMean, s.OutVar} {
		if !math.IsNaN(v) {
			t.Errorf("measure %d of nothing is %g, want NaN", i, v)
		}
	}
	if got := Overlap([]int32{1, 2}, []int32{3}, 3); got != 0 {
		t.Errorf("overlap of disjoint sets %g", got)
	}
}

// A run that dies on the way goes on, and its areas stay silent.
func TestDyingOut(t *testing.T) {
	b := quiet(t, Settings{})
	check(t, b.AddArea(Area{Name: "D", N: 300, K: 10, Column: Column{Policy: AtThreshold, Threshold: 8}}))
	must(t)(b.Form("S", "D", 2))
	trace := must(t)(b.project(4, "D>D"))
	if last := trace[3][0]; len(last.Winners) > 0 || last.Input > 0 {
		t.Errorf("%+v: want silence", last)
	}
	p, err := b.Plan("D>D")
	check(t, err)
	if p.Open() != true || slices.Contains(p.Closed(), "D>D") {
		t.Error("the plan is said to be closed")
	}
	check(t, b.Inhibit("D", 1))
	if p.Open() || !slices.Equal(p.Closed(), []string{"D>D"}) {
		t.Error("the plan is said to be open")
	}
}
