// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import "testing"

// Areas whose assemblies are ten times as large hold what smaller ones project: the
// experiments by which the assembly calculus reads, writes and erases a tape. Ranges
// are those of the reference's five and four brains, widened by half.

func settled(t *testing.T, b *Brain, fibres string) int {
	n, err := b.Settle(1, 200, fibres)
	check(t, err)
	return n
}

func in(t *testing.T, what string, got, low, high int) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s: %d, want %d to %d", what, got, low, high)
	}
}

func TestLargerAssemblies(t *testing.T) {
	const k = 50
	for seed := range uint64(5) {
		b := New(Settings{P: 0.02, Seed: seed, Lazy: Normal})
		check(t, b.AddStimulus("S", k))
		check(t, b.AddArea(Area{Name: "A", N: 10000, K: k, Beta: 0.05, Lazy: true}))
		check(t, b.AddArea(Area{Name: "B", N: 10000, K: 10 * k, Beta: 0.8, Lazy: true}))
		check(t, b.SetBeta("A", "A", 0))
		check(t, b.SetBeta("B", "A", 0.8))
		do := must(t)
		do(b.project(1, "S>A"))
		in(t, "steps of projection", settled(t, b, "S>A A>A"), 7, 18)
		before := winners(t, b, "A")
		do(b.project(1, "S>A A>A A>B"))
		in(t, "steps of reciprocal projection", settled(t, b, "S>A A>A A>B B>B B>A"), 3, 7)
		in(t, "overlap of A", int(Overlap(before, winners(t, b, "A"), 1)), 4, 20)
		support, _ := b.Support("B")
		in(t, "support of B", support, 950, 1400)
	}
}

// A projects to B and then to C, which erases nothing of B.
func TestErasing(t *testing.T) {
	const k = 20
	for seed := range uint64(3) {
		b := New(Settings{P: 0.05, Seed: seed, Lazy: Normal})
		check(t, b.AddStimulus("S", k))
		for _, name := range []string{"A", "B", "C"} {
			check(t, b.AddArea(Area{Name: name, N: 20000, K: 10 * k, Beta: 0.8, Lazy: true}))
		}
		check(t, b.SetBeta("S", "A", 0.05))
		check(t, b.SetBeta("A", "A", 0.01))
		check(t, b.SetBeta("B", "A", 0.8))
		check(t, b.SetBeta("C", "A", 0.8))
		do := must(t)
		do(b.project(1, "S>A"))
		in(t, "steps of projection", settled(t, b, "S>A A>A"), 55, 100)
		do(b.project(1, "S>A A>A A>B"))
		in(t, "steps with B", settled(t, b, "S>A A>A A>B B>B B>A"), 1, 4)
		withB, inB := winners(t, b, "A"), winners(t, b, "B")
		do(b.project(1, "S>A A>A A>C"))
		in(t, "steps with C", settled(t, b, "S>A A>A A>C C>C C>A"), 1, 4)
		in(t, "overlap of A", int(Overlap(withB, winners(t, b, "A"), 1)), 100, 170)
		do(b.project(1, "A>B"))
		in(t, "overlap of B", int(Overlap(inB, winners(t, b, "B"), 1)), 195, 200)
	}
}
