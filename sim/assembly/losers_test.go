// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
)

// formed forms an assembly in 25 steps and completes it from 40 %.
func formed(t *testing.T, s Settings, a Area) map[string][]float64 {
	out, _ := formedBrain(t, s, a)
	return out
}

func formedBrain(t *testing.T, s Settings, a Area) (map[string][]float64, *Brain) {
	b := New(s)
	check(t, b.AddStimulus("S", a.K))
	check(t, b.AddArea(a))
	var w []float64
	for i, r := range must(t)(b.Form("S", a.Name, 25)) {
		if i == 1 || i == 4 || i == 24 {
			w = append(w, float64(r[0].Support))
		}
	}
	density, weight, err := b.Density(a.Name)
	check(t, err)
	completed, err := b.Complete(a.Name, 0.4, 5, s.Seed)
	check(t, err)
	return map[string][]float64{"support": w, "density": {density}, "weight": {weight}, "completion": {completed}}, b
}

// filled forms twelve assemblies in one area, until few neurons have never fired, and recalls the first ones.
func filled(t *testing.T, s Settings, a Area) map[string][]float64 {
	b := New(s)
	check(t, b.AddArea(a))
	out := map[string][]float64{}
	var all [][]int32
	for i := range 12 {
		name := fmt.Sprint("S", i)
		check(t, b.AddStimulus(name, a.K))
		r := must(t)(b.Form(name, a.Name, 8))
		out["support"] = append(out["support"], float64(r[7][0].Support))
		all = append(all, winners(t, b, a.Name))
	}
	b.Learn(false)
	for i := range 3 {
		must(t)(b.Form(fmt.Sprint("S", i), a.Name, 4))
		out["recalled"] = append(out["recalled"], Overlap(all[i], winners(t, b, a.Name), a.K))
	}
	return out
}

// contested fires two stimuli in turn into rivals: which of them fires should not change from time to time.
func contested(t *testing.T, s Settings, a Area) map[string][]float64 {
	b := New(s)
	check(t, b.AddStimulus("S", a.K))
	check(t, b.AddStimulus("T", a.K))
	for _, name := range []string{"A", "B"} {
		a.Name = name
		check(t, b.AddArea(a))
	}
	check(t, b.Rivals("A", "B"))
	b.Learn(false)
	changes, first := 0.0, map[string]bool{}
	for i := range 10 {
		from := []string{"S", "T"}[i%2]
		r := must(t)(b.project(1, from+">A "+from+">B"))
		if won := len(r[0][0].Winners) > 0; i < 2 {
			first[from] = won
		} else if won != first[from] {
			changes++
		}
	}
	x, _ := b.Support("A")
	y, _ := b.Support("B")
	if s.Lazy == Exact && changes > 0 {
		t.Errorf("seed %d: the rival that fires changed %g times", s.Seed, changes)
	}
	return map[string][]float64{"support": {float64(x), float64(y)}}
}

// tired runs an area whose neurons tire or have a threshold, over two fibres of different probability.
func tired(c Column, set Settings) func(t *testing.T, s Settings, a Area) map[string][]float64 {
	return func(t *testing.T, s Settings, a Area) map[string][]float64 {
		a.Column, set.Seed, set.P, set.Lazy = c, s.Seed, s.P, s.Lazy
		b := New(set)
		check(t, b.AddStimulus("S", a.K))
		check(t, b.AddArea(a))
		check(t, b.SetP("A", "A", s.P*1.5))
		var w, k []float64
		for _, r := range must(t)(b.Form("S", "A", 15)) {
			w, k = append(w, float64(r[0].Support)), append(k, float64(len(r[0].Winners)))
		}
		return map[string][]float64{"support": w, "winners": k}
	}
}

// recalled lets an area and its projection recall each other.
func recalled(t *testing.T, s Settings, a Area) map[string][]float64 {
	b, do := twoAreas(t, s, a), must(t)
	do(b.Form("SA", "A", 21))
	before := winners(t, b, "A")
	do(b.Reciprocal("A", "B", 21))
	var out []float64
	for _, fibres := range []string{"B>A", "B>A A>A", "B>A A>A", "B>A A>A"} {
		do(b.project(1, fibres))
		out = append(out, Overlap(before, winners(t, b, "A"), a.K))
	}
	return map[string][]float64{"restored": out}
}

// What lazy areas do has the same distribution as what areas do that exist whole, in all that areas do.
func TestLazyAreasHaveTheLawOfWholeOnes(t *testing.T) {
	tier.SlowOnly(t)
	area := Area{Name: "A", N: 1000, K: 100, Beta: 0.05}
	tiny := Area{Name: "A", N: 60, K: 20, Beta: 0.1}
	for _, c := range []struct {
		name  string
		p     float64
		area  Area
		seeds int
		run   func(t *testing.T, s Settings, a Area) map[string][]float64
	}{
		{"form", 0.05, area, 100, formed},
		{"form sparsely", 0.01, area, 100, formed},
		{"form in a tiny area", 0.2, tiny, 150, formed},
		{"associate", 0.05, area, 40, associated},
		{"merge", 0.05, area, 30, merged},
		{"reciprocal", 0.05, area, 60, recalled},
		{"fill", 0.05, area, 40, filled},
		{"fill a tiny area", 0.2, tiny, 100, filled},
		{"rivals", 0.05, area, 60, contested},
		{"latency", 0.05, area, 60, tired(Column{Latency: 3, LatencyStrength: 3}, Settings{NoSelf: true})},
		{"refraction", 0.05, area, 60, tired(Column{Refraction: 0.5}, Settings{MaxWeight: 2})},
		{"threshold", 0.05, area, 60, tired(Column{Policy: AtThreshold, Threshold: 11}, Settings{})},
		{"relative threshold", 0.05, area, 100, tired(Column{Policy: Relative, Threshold: 0.8, AtLeast: 10}, Settings{Activity: Silent})},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !tier.Slow {
				c.seeds = max(15, c.seeds/4)
			}
			var got [2]figures
			for i := range got {
				c.area.Lazy = i == 0
				got[i] = collect(c.seeds, Settings{P: c.p}, func(s Settings) map[string][]float64 { return c.run(t, s, c.area) })
			}
			got[0].same(t, got[1], sortedKeys(got[0])...)
		})
	}
}

func sortedKeys(f figures) []string {
	m := map[string]any{}
	for k := range f {
		m[k] = nil
	}
	return sorted(m)
}

// The synapses of new neurons are such that these would have lost all earlier rounds.
func TestNewNeuronsWouldHaveLost(t *testing.T) {
	b := New(Settings{P: 0.05, Seed: 2})
	check(t, b.AddStimulus("S", 60))
	check(t, b.AddArea(Area{Name: "A", N: 20000, K: 60, Beta: 0.03, Lazy: true}))
	type round struct {
		winners []int32 // that fired before
		kth     float64
		support int
	}
	var rounds []round
	for i := range 12 {
		fibres := "S>A A>A"
		if i == 0 {
			fibres = "S>A"
		}
		before := winners(t, b, "A")
		r := must(t)(b.project(1, fibres))[0][0]
		s, _ := b.fibre("S", "A")
		for j := int32(r.Support - r.First); int(j) < r.Support; j++ { // numbers follow the order of first firing
			for _, earlier := range rounds {
				input := int(s.inputs[j])
				for _, i := range earlier.winners {
					if w, _ := b.Weight("A", "A", int(i), int(j)); w > 0 {
						input++
					}
				}
				if float64(input) > earlier.kth {
					t.Fatalf("neuron %d first fires in round %d, but with an input of %d it would have won one whose last winner had %g", j, i, input, earlier.kth)
				}
			}
		}
		rounds = append(rounds, round{before, r.Kth, r.Support})
	}
	if rounds[11].support < 100 {
		t.Errorf("support %d", rounds[11].support)
	}
}

// Snapshots hold what is known of the neurons that never fired; those of an earlier version, which did not, are refused.
func TestSnapshotsHoldDefeats(t *testing.T) {
	b := New(Settings{P: 0.05, Seed: 5})
	check(t, b.AddStimulus("S", 50))
	check(t, b.AddArea(Area{Name: "A", N: 5000, K: 50, Beta: 0.05, Lazy: true}))
	must(t)(b.Form("S", "A", 4))
	if len(b.areas[0].memory.defeats) == 0 {
		t.Fatal("nothing is remembered")
	}
	var file bytes.Buffer
	check(t, b.Save(&file))
	c, err := Load(bytes.NewReader(file.Bytes()), nil)
	check(t, err)
	x, y := must(t)(b.Form("S", "A", 8)), must(t)(c.Form("S", "A", 8))
	if !same(x[7], y[7]) || x[7][0].Support == x[0][0].Support {
		t.Errorf("the brain did %+v, the one that was loaded %+v", x[7], y[7])
	}
	old := bytes.Replace(file.Bytes(), fmt.Appendf(nil, "%s %d\n", fileKind, fileVersion), fmt.Appendf(nil, "%s %d\n", fileKind, fileVersion-1), 1)
	if _, err := Load(bytes.NewReader(old), nil); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("a snapshot of the version before: %v", err)
	}
}

// A strengthened input of a lazy area equals the count that it equals in an area that exists whole, although
// its weights are float32: who wins among equals is for the ranks to say.
func TestSingleWeightsTieWithCounts(t *testing.T) {
	for _, c := range []struct{ beta, synapses, count float64 }{{0.1, 10, 11}, {0.05, 20, 21}, {0.25, 4, 5}, {0.2, 15, 18}} {
		w := float64(float32(float64(float32(1)) * (1 + c.beta)))
		for _, rest := range []float64{0, 3, 50} {
			if x := roundedTo(singleBits, rounded(c.synapses*w+rest)); x != c.count+rest {
				t.Errorf("%g synapses of weight %g and %g others: %.12g, want %g", c.synapses, w, rest, x, c.count+rest)
			}
		}
	}
}

// TestNormalTail forms assemblies of neurons whose inputs are beyond what 1 - Erf can tell from 0: 14 of these had no finite inputs.
func TestNormalTail(t *testing.T) {
	for _, size := range []int{1, 10, 100, 500} {
		for _, p := range []float64{0, 1e-5, 1e-3, 0.01, 0.05, 1} {
			b := New(Settings{P: p, Seed: 1, Lazy: Normal})
			check(t, b.AddArea(Area{Name: "A", N: 1_000_000, K: 50, Beta: 0.05, Lazy: true}))
			check(t, b.AddStimulus("s", size))
			trace, err := b.Form("s", "A", 10)
			check(t, err)
			first := trace[0][0]
			if least := float64(b.binomial(size, p).quantile(50. / 1e6)); first.Kth < least || first.Input > 50*(least+2) || len(first.Winners) != 50 {
				t.Errorf("%d neurons with synapses of probability %g: %d winners have inputs from %v on, %v together, want from %v on", size, p, len(first.Winners), first.Kth, first.Input, least)
			}
		}
	}
}
