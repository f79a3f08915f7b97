// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
)

func twoAreas(t *testing.T, s Settings, a Area) *Brain {
	b := New(s)
	check(t, b.AddStimulus("SA", a.K))
	check(t, b.AddStimulus("SB", a.K))
	for _, name := range []string{"A", "B", "C"} {
		a.Name = name
		check(t, b.AddArea(a))
	}
	return b
}

// winners returns those of an area.
func winners(t *testing.T, b *Brain, area string) []int32 {
	w, err := b.Winners(area)
	check(t, err)
	return w
}

func must(t *testing.T) func(trace [][]Round, err error) [][]Round {
	return func(trace [][]Round, err error) [][]Round {
		t.Helper()
		check(t, err)
		return trace
	}
}

// associated runs the protocol "assoc" with ten joint rounds.
func associated(t *testing.T, s Settings, a Area) map[string][]float64 {
	b, do, k := twoAreas(t, s, a), must(t), a.K
	do(b.project(1, "SA>A SB>B"))
	do(b.project(9, "SA>A SB>B A>A B>B"))
	out := map[string][]float64{}
	into := func(trace [][]Round) []int32 {
		for _, step := range trace {
			for _, r := range step {
				if r.Area == "C" {
					out["wC"] = append(out["wC"], float64(r.Support))
				}
			}
		}
		return winners(t, b, "C")
	}
	wa := into(do(b.ProjectInto("SA", "A", "C", 10)))
	wb := into(do(b.ProjectInto("SB", "B", "C", 10)))
	both := into(do(b.Associate("SA", "A", "SB", "B", "C", 10)))
	postB := into(do(b.ProjectInto("SB", "B", "C", 10)))
	postA := into(do(b.ProjectInto("SA", "A", "C", 10)))
	for name, x := range map[string][2][]int32{"A_B": {wa, wb}, "A_AB": {wa, both}, "B_AB": {wb, both}, "A_Bpost": {wa, postB}, "AB_Bpost": {both, postB},
		"B_Apost": {wb, postA}, "AB_Apost": {both, postA}, "Apost_Bpost": {postA, postB}} {
		out[name] = []float64{Overlap(x[0], x[1], k)}
	}
	return out
}

// completed runs the protocol "pattern" with half of the winners.
func completed(t *testing.T, s Settings, a Area) map[string][]float64 {
	b := New(s)
	check(t, b.AddStimulus("S", a.K))
	check(t, b.AddArea(a))
	must(t)(b.Form("S", a.Name, 25))
	var out []float64
	for i := 1; i <= 10; i++ {
		r, err := b.Clone().Complete(a.Name, float64(i)/10, 5, s.Seed)
		check(t, err)
		out = append(out, r)
	}
	return map[string][]float64{"recovered": out}
}

func collect(n int, s Settings, f func(s Settings) map[string][]float64) figures {
	got := figures{}
	for seed := range n {
		s.Seed = uint64(seed + 1)
		for k, v := range f(s) {
			got[k] = append(got[k], v)
		}
	}
	return got
}

func TestLawOfAssociation(t *testing.T) {
	tier.SlowOnly(t)
	for engine, s := range map[string]Settings{"lazy_exact": {Activity: Silent, Lazy: forgetful}, "cpp": {Activity: Silent, Lazy: Normal}, "py": {Lazy: Normal}} {
		eachExperiment(t, "assoc", engine, 1, func(t *testing.T, p float64, a Area, want figures) {
			s.P = p
			got := collect(60, s, func(s Settings) map[string][]float64 { return associated(t, s, a) })
			got.same(t, want, "A_B", "A_AB", "B_AB", "A_Bpost", "AB_Bpost")
		})
	}
}

// merged runs the protocol "merge". Supports count what fires from the first joint
// step on.
func merged(t *testing.T, s Settings, a Area) map[string][]float64 {
	b, do := twoAreas(t, s, a), must(t)
	do(b.project(1, "SA>A SB>B"))
	out, fired := map[string][]float64{}, map[string]map[int32]bool{"A": {}, "B": {}, "C": {}}
	fibres := "SA>A SB>B A>A B>B A>C B>C"
	for i := range 47 {
		do(b.project(1, fibres))
		fibres = "SA>A SB>B A>A B>B A>C B>C C>C C>A C>B"
		for name, set := range fired {
			for _, w := range winners(t, b, name) {
				set[w] = true
			}
			if i >= 1 && (i <= 31 || i%5 == 1) {
				out["w"+name] = append(out["w"+name], float64(len(set)))
			}
		}
	}
	return out
}

func TestLawOfMerging(t *testing.T) {
	tier.SlowOnly(t)
	for engine, s := range map[string]Settings{"lazy_exact": {Activity: Silent, Lazy: forgetful}, "cpp": {Activity: Silent, Lazy: Normal}} {
		eachExperiment(t, "merge", engine, 1, func(t *testing.T, p float64, a Area, want figures) {
			s.P = p
			got := collect(40, s, func(s Settings) map[string][]float64 { return merged(t, s, a) })
			got.same(t, want, "wA", "wB", "wC")
		})
	}
}

// Merged assemblies hold each other: without its stimulus one brings back the other.
func TestMerge(t *testing.T) {
	b, do := twoAreas(t, Settings{P: 0.05, Seed: 1}, Area{N: 10000, K: 100, Beta: 0.05, Lazy: true}), must(t)
	do(b.Form("SA", "A", 10))
	do(b.Form("SB", "B", 10))
	do(b.Merge("SA", "A", "SB", "B", "C", 40))
	before := winners(t, b, "B")
	b.Learn(false)
	do(b.project(1, "SA>A"))
	do(b.project(1, "A>C"))
	do(b.project(1, "C>B"))
	if o := Overlap(before, winners(t, b, "B"), 100); o < 0.5 {
		t.Errorf("overlap %v of what is brought back, chance is 0.01", o)
	}
}

// A brain and its copy go on alike, and apart.
func TestCloneGoesOnAlike(t *testing.T) {
	b, do := twoAreas(t, Settings{P: 0.05, Seed: 4}, Area{N: 5000, K: 70, Beta: 0.05, Lazy: true}), must(t)
	do(b.Form("SA", "A", 5))
	c := b.Clone()
	do(b.Form("SA", "A", 5))
	before := winners(t, b, "A")
	do(c.Form("SA", "A", 5))
	if !slices.Equal(before, winners(t, c, "A")) {
		t.Error("the copy went another way")
	}
	do(c.Form("SB", "A", 5))
	if !slices.Equal(before, winners(t, b, "A")) {
		t.Error("the copy changed the brain")
	}
}

// What makes no sense is refused with the numbers.
func TestRefusals(t *testing.T) {
	b := New(Settings{P: 0.1})
	check(t, b.AddArea(Area{Name: "A", N: 10, K: 3}))
	for want, err := range map[string]error{
		"fire 11 of its 10":                      b.AddArea(Area{Name: "B", N: 10, K: 11}),
		"name that no other":                     b.AddArea(Area{Name: "A", N: 10, K: 3}),
		"no area \"C\"":                          b.Fix("C", true),
		"block 3 of area A":                      b.Activate("A", 3),
		"neuron 10 of area A cannot be a winner": b.SetWinners("A", []int32{10}),
		"different neurons":                      b.SetWinners("A", []int32{1, 1}),
		"plasticity -1":                          b.SetBeta("A", "A", -1),
		"neurons: want at least 0":               b.AddStimulus("s", -1),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for want, fibres := range map[string]string{"not of the form from>to": "A", "it is not a stimulus either": "X>A", "twice": "A>A A>A"} {
		if _, err := b.Plan(fibres); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("plan %q: %v, want %q", fibres, err, want)
		}
	}
}

func TestLawOfCompletion(t *testing.T) {
	eachExperiment(t, "pattern", "lazy_exact", 1, func(t *testing.T, p float64, a Area, want figures) {
		got := collect(60, Settings{P: p, Lazy: forgetful}, func(s Settings) map[string][]float64 { return completed(t, s, a) })
		got.same(t, want, "recovered")
	})
}

// The more two sets of neurons overlap, the more do those that they project to, in lazy
// areas as in whole ones; disjoint ones have next to nothing in common, and what is the same
// before is the same after.
func TestOverlapIsPreserved(t *testing.T) {
	const k = 100
	for _, lazy := range []bool{false, true} {
		b := New(Settings{P: 0.05, Seed: 1})
		check(t, b.AddArea(Area{Name: "C", N: 1000, K: k}))
		check(t, b.AddArea(Area{Name: "D", N: 10000, K: k, Lazy: lazy}))
		set := func(from int) (w []int32) {
			for j := range k {
				w = append(w, int32(from+j))
			}
			return w
		}
		last := -1.0
		for _, shift := range []int{100, 50, 20, 0} {
			before, after, err := b.Preserve("C", "D", set(0), set(shift))
			check(t, err)
			if before != float64(k-shift)/k || after < last || shift == 100 && after > 0.1 || shift == 0 && after < 1 {
				t.Errorf("lazy %v: overlap %v becomes %v after %v", lazy, before, after, last)
			}
			last = after
		}
		if s, _ := b.Support("D"); s != 0 {
			t.Error("the brain itself has changed")
		}
	}
}
