// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Inputs are what the weights say, however weights went away from 1 and came back.
func TestWeightsThatReturnToOne(t *testing.T) {
	b := New(Settings{P: 0.3, Seed: 1})
	check(t, b.AddStimulus("S", 40))
	check(t, b.AddArea(Area{Name: "A", N: 300, K: 20, Beta: 1}))
	do := must(t)
	for _, c := range []struct {
		rule Rule
		beta float64
	}{{Hebb, 1}, {AntiHebb, 0.5}, {Willshaw, 0}, {Hebb, 1}, {AntiHebb, 0.5}, {Hebb, 0.25}} {
		check(t, b.SetRule("S", "A", Hebb))
		check(t, b.SetBeta("S", "A", c.beta))
		check(t, b.SetRule("S", "A", c.rule))
		do(b.project(1, "S>A"))
	}
	r := do(b.project(1, "S>A"))[0][0]
	sum := 0.0
	b.Learn(false)
	r = do(b.project(1, "S>A"))[0][0]
	for _, j := range r.Winners {
		w, err := b.Weight("S", "A", 0, int(j))
		check(t, err)
		sum += w
	}
	if math.Abs(sum-r.Input) > 1e-6 {
		t.Errorf("input %v, weights %v", r.Input, sum)
	}
}

// An area that nothing reaches keeps its winners, or falls silent, lazy or not.
func TestUnreachedAreas(t *testing.T) {
	for _, lazy := range []bool{false, true} {
		for _, activity := range []Activity{Sticky, Silent} {
			b := New(Settings{P: 0.2, Seed: 1, Activity: activity})
			check(t, b.AddStimulus("S", 30))
			check(t, b.AddArea(Area{Name: "A", N: 500, K: 10, Beta: 0.1, Lazy: lazy}))
			do := must(t)
			do(b.Form("S", "A", 4))
			before := winners(t, b, "A")
			support, _ := b.Support("A")
			check(t, b.Inhibit("A", 0))
			do(b.project(2, "S>A A>A"))
			after := winners(t, b, "A")
			if now, _ := b.Support("A"); now != support || activity == Sticky && !slices.Equal(before, after) || activity == Silent && len(after) > 0 {
				t.Errorf("lazy %v, activity %v: %v, before %v", lazy, activity, after, before)
			}
		}
	}
}

func TestPlansBelongToABrain(t *testing.T) {
	b := New(Settings{P: 0.2})
	check(t, b.AddStimulus("S", 30))
	check(t, b.AddArea(Area{Name: "A", N: 500, K: 10}))
	p, err := b.Plan("S>A")
	check(t, err)
	if _, err := b.Clone().Project(p, 1); err == nil || !strings.Contains(err.Error(), "another brain") {
		t.Error(err)
	}
	if _, err := b.Project(nil, 1); err == nil {
		t.Error("no plan")
	}
}

// Rounds are the caller's to change.
func TestRoundsAreTheCallers(t *testing.T) {
	b := New(Settings{P: 0.2, Seed: 3})
	check(t, b.AddStimulus("S", 30))
	check(t, b.AddArea(Area{Name: "A", N: 500, K: 10, Beta: 0.1}))
	trace, err := b.Form("S", "A", 1)
	check(t, err)
	before := winners(t, b, "A")
	clear(trace[0][0].Winners)
	if !slices.Equal(before, winners(t, b, "A")) {
		t.Error("a round shares its winners with the brain")
	}
}

// In which order fibres are written changes nothing, also where lazy areas draw.
func TestOrderOfFibres(t *testing.T) {
	var want []int32
	for _, plan := range []string{"S>A T>A B>A A>A", "A>A T>A B>A S>A"} {
		b := New(Settings{P: 0.1, Seed: 3})
		check(t, b.AddStimulus("S", 30))
		check(t, b.AddStimulus("T", 20))
		for _, name := range []string{"A", "B"} {
			check(t, b.AddArea(Area{Name: name, N: 5000, K: 30, Beta: 0.1, Lazy: true}))
		}
		must(t)(b.project(2, "S>B"))
		must(t)(b.project(5, plan))
		if got := winners(t, b, "A"); want == nil {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

func TestNumbersMustBeFinite(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for i, a := range []Area{{Beta: inf}, {Beta: nan}, {Column: Column{Threshold: nan}}, {Column: Column{Refraction: inf}}, {Column: Column{Latency: 1, LatencyStrength: inf}}} {
		a.Name, a.N, a.K = "A", 10, 1
		if err := New(Settings{P: 0.1}).AddArea(a); err == nil {
			t.Errorf("area %d: no error", i)
		}
	}
	for _, s := range []Settings{{P: nan}, {P: 0.1, MaxWeight: inf}, {P: 0.1, MaxWeight: -1}} {
		if err := New(s).AddArea(Area{Name: "A", N: 10, K: 1}); err == nil {
			t.Errorf("settings %+v: no error", s)
		}
	}
	if err := New(Settings{}).AddArea(Area{Name: "A", N: 1 << 40, K: 1, Lazy: true}); err == nil {
		t.Error("an area of 2^40 neurons")
	}
}

// Weights stop before they overflow; the assembly stands.
func TestWeightsDoNotOverflow(t *testing.T) {
	for _, lazy := range []bool{false, true} {
		b := New(Settings{P: 0.1, Seed: 3})
		check(t, b.AddStimulus("S", 30))
		check(t, b.AddArea(Area{Name: "A", N: 1000, K: 20, Beta: 3, Lazy: lazy}))
		trace, err := b.Form("S", "A", 600)
		check(t, err)
		if r := trace[599][0]; r.Kept != 20 || math.IsInf(r.Kth, 0) || math.IsNaN(r.Kth) {
			t.Errorf("lazy %v: %+v", lazy, r)
		}
	}
}
