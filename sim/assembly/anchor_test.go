// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
)

// What the unit tests of the reference engines ask for, at their sizes.

// A million neurons settle within 25 rounds.
func TestAMillionSettle(t *testing.T) {
	b := New(Settings{P: 0.001, Seed: 1})
	check(t, b.AddStimulus("S", 1000))
	check(t, b.AddArea(Area{Name: "A", N: 1e6, K: 1000, Beta: 0.05, Lazy: true}))
	trace, err := b.Form("S", "A", 26)
	check(t, err)
	if last := trace[25][0]; last.Kept < 999 || last.First > 1 {
		t.Errorf("%d of 1000 winners stay, %d are new", last.Kept, last.First)
	}
}

func TestHalfACueCompletes(t *testing.T) {
	b := New(Settings{P: 0.05, Seed: 1})
	check(t, b.AddStimulus("S", 317))
	check(t, b.AddArea(Area{Name: "A", N: 1e5, K: 317, Beta: 0.05, Lazy: true}))
	must(t)(b.Form("S", "A", 25))
	got, err := b.Complete("A", 0.5, 5, 1)
	check(t, err)
	if got*317 < 310 {
		t.Errorf("%v of the assembly completed, want 310 of 317", got)
	}
}

// Before they fire together assemblies of two stimuli have next to nothing in common;
// after it what they project to has. The overlaps vary widely from brain to brain: A
// and the joint one from 20 to 100 of 317.
func TestAssociationAtSize(t *testing.T) {
	for seed := range uint64(4) {
		got := associated(t, Settings{P: 0.05, Seed: seed, Activity: Silent}, Area{N: 1e5, K: 317, Beta: 0.1, Lazy: true})
		count := func(name string) int { return int(got[name][0]*317 + 0.5) }
		if count("A_B") > 5 || count("A_AB") < 20 || count("B_AB") < 90 || count("AB_Bpost") < 200 || count("B_Apost") < 20 {
			t.Errorf("brain %d: common neurons over 317: %v", seed, got)
		}
	}
}

// Merged assemblies stay small on average (in some brains, whose areas are whole or lazy, a support is above the limit of the
// reference's test, which has one brain), and bring each other back.
func TestMergingAtSize(t *testing.T) {
	tier.SlowOnly(t)
	const k, brains = 317, 4
	sum := map[string]int{}
	for seed := range uint64(brains) {
		b, do := twoAreas(t, Settings{P: 0.01, Seed: seed + 1, Activity: Silent}, Area{N: 1e5, K: k, Beta: 0.05, Lazy: true}), must(t)
		do(b.project(1, "SA>A SB>B"))
		do(b.Merge("SA", "A", "SB", "B", "C", 50))
		before := winners(t, b, "B")
		for _, name := range b.Areas() {
			s, _ := b.Support(name)
			sum[name] += s
		}
		do(b.project(1, "SA>A"))
		do(b.project(1, "SA>A A>A A>C"))
		do(b.project(1, "SA>A A>A A>C C>C C>B"))
		do(b.project(50, "SA>A A>A A>C C>C C>B B>B"))
		if o := Overlap(before, winners(t, b, "B"), k); o < 0.95 {
			t.Errorf("brain %d: %v of B comes back from A's stimulus, want 0.95", seed, o)
		}
	}
	for name, most := range map[string]int{"A": 10 * k, "B": 10 * k, "C": 20 * k} {
		if sum[name] > most*brains {
			t.Errorf("support of %s is %d on average, above %d", name, sum[name]/brains, most)
		}
	}
}
