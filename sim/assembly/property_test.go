// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anyBrain draws areas, stimuli and a plan of random fibres.
func anyBrain(t *rapid.T) (set Settings, areas []Area, fibres []string) {
	set = Settings{P: rapid.SampledFrom([]float64{0, 0.02, 0.1, 0.5, 1}).Draw(t, "p"), Seed: rapid.Uint64().Draw(t, "seed"),
		Activity: rapid.SampledFrom([]Activity{Sticky, Silent}).Draw(t, "activity"), Lazy: rapid.SampledFrom([]Sampling{Exact, Normal}).Draw(t, "lazy"),
		NoSelf: rapid.Bool().Draw(t, "no self")}
	names := []string{"A", "B", "C"}[:rapid.IntRange(1, 3).Draw(t, "areas")]
	for _, name := range names {
		n := rapid.IntRange(1, 120).Draw(t, "n")
		areas = append(areas, Area{Name: name, N: n, K: rapid.IntRange(1, n).Draw(t, "k"),
			Beta: rapid.SampledFrom([]float64{0, 0.1}).Draw(t, "beta"), Lazy: rapid.Bool().Draw(t, "lazy area")})
	}
	for _, from := range append([]string{"S", "T"}, names...) {
		for _, to := range names {
			if rapid.Bool().Draw(t, from+to) {
				fibres = append(fibres, from+">"+to)
			}
		}
	}
	if len(fibres) == 0 {
		fibres = []string{"S>A"}
	}
	return set, areas, fibres
}

func build(t *rapid.T, set Settings, areas []Area) *Brain {
	b := New(set)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(b.AddStimulus("S", 10))
	must(b.AddStimulus("T", 0))
	for _, a := range areas {
		must(b.AddArea(a))
	}
	return b
}

// steps runs a plan whatever fires.
func steps(t *rapid.T, b *Brain, n int, fibres ...string) [][]Round {
	p, err := b.Plan(fibres...)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := b.Continue(p, n)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// Winners are at most K different neurons that exist; supports never shrink; what is
// set up in another order, or computed by more threads, goes the same way; neither
// learning nor time makes synapses between neurons that have none.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, areas, fibres := anyBrain(t)
		set.Threads = 1
		b := build(t, set, areas)
		support := map[string]int{}
		for _, step := range steps(t, b, 4, fibres...) {
			for _, r := range step {
				a := areas[slices.IndexFunc(areas, func(a Area) bool { return a.Name == r.Area })]
				sorted := ids(r.Winners)
				if len(slices.Compact(sorted)) != len(r.Winners) || len(r.Winners) > a.K || len(sorted) > 0 && int(sorted[len(sorted)-1]) >= a.N {
					t.Fatalf("winners %v of %d neurons, %d at most", r.Winners, a.N, a.K)
				}
				if r.Support < support[r.Area] || r.Support > a.N || r.Support-support[r.Area] != r.First {
					t.Fatalf("support %d after %d, %d of them new", r.Support, support[r.Area], r.First)
				}
				support[r.Area] = r.Support
			}
		}
		set.Threads = 3
		other := slices.Clone(areas)
		slices.Reverse(other)
		c := build(t, set, other)
		back := slices.Clone(fibres)
		steps(t, c, 4, back...)
		for _, a := range areas {
			x, _ := b.Winners(a.Name)
			y, _ := c.Winners(a.Name)
			if !slices.Equal(x, y) {
				t.Fatalf("area %s: %v, and %v where areas are added in another order", a.Name, x, y)
			}
		}
		count := func() map[string]int {
			n := map[string]int{}
			for key, f := range b.byName {
				if f.target.support > 0 && f.target.Lazy || f.from != nil && f.from.Lazy {
					continue // grows with supports
				}
				f.each(b, func(_, _ int32, _ float64) { n[fmt.Sprint(key)]++ })
			}
			return n
		}
		before := count()
		steps(t, b, 2, fibres...)
		if after := count(); !maps.Equal(before, after) {
			t.Fatalf("%v synapses, and %v after two more steps", before, after)
		}
	})
}

// Without plasticity weights stay 1; a fixed area keeps its winners.
func TestNothingLearnt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, areas, fibres := anyBrain(t)
		b := build(t, set, areas)
		b.Learn(false)
		steps(t, b, 3, fibres...)
		for _, f := range b.fibres {
			if f.stimulus == nil {
				f.each(b, func(_, _ int32, w float64) {
					if w != 1 {
						t.Fatalf("%s>%s has weight %v", f.From, f.To, w)
					}
				})
			}
		}
		b.Learn(true)
		before, _ := b.Winners("A")
		b.Fix("A", true)
		steps(t, b, 2, fibres...)
		if after, _ := b.Winners("A"); !slices.Equal(before, after) {
			t.Fatalf("a fixed area fired %v, now %v", before, after)
		}
	})
}

// The same brain on one thread and on several has the same bits, at a size where all
// of them have work.
func TestThreadsChangeNothing(t *testing.T) {
	var want []Round
	for _, threads := range []int{1, 2, 5} {
		b := New(Settings{P: 0.01, Seed: 8, Threads: threads})
		check(t, b.AddStimulus("S", 100))
		check(t, b.AddArea(Area{Name: "A", N: 50000, K: 100, Beta: 0.05}))
		trace, err := b.Form("S", "A", 8)
		check(t, err)
		if got := trace[7]; want == nil {
			want = got
		} else if !same(want, got) {
			t.Errorf("%d threads: another way", threads)
		}
	}
}

// Links that are forgotten for want of room are drawn again, alike.
func TestSmallCacheChangesNothing(t *testing.T) {
	var want []Round
	for _, cache := range []int{0, 1, 30000} {
		b := New(Settings{P: 0.01, Seed: 8, Cache: cache})
		check(t, b.AddStimulus("S", 100))
		check(t, b.AddArea(Area{Name: "A", N: 20000, K: 50, Beta: 0.05}))
		trace, err := b.Form("S", "A", 12)
		check(t, err)
		if got := trace[11]; want == nil {
			want = got
		} else if !same(want, got) {
			t.Errorf("a cache of %d bytes: another way", cache)
		}
		if kept := b.cached; cache > 0 && kept > cache+50*500 {
			t.Errorf("%d bytes are kept, want %d", kept, cache)
		}
	}
}

// In-degrees of different areas from the same sources have nothing in common.
func TestFibresAreIndependent(t *testing.T) {
	b := New(Settings{P: 0.05, Seed: 1})
	for _, name := range []string{"A", "B", "C"} {
		check(t, b.AddArea(Area{Name: name, N: 10000, K: 200}))
	}
	check(t, b.Activate("A", 0))
	must(t)(b.project(1, "A>B A>C"))
	if o := Overlap(winners(t, b, "B"), winners(t, b, "C"), 200); o > 0.05 {
		t.Errorf("overlap %v of two areas, chance is 0.02", o)
	}
}
