// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Inputs that are counted in 64 rounds at once win where plain counts do.
func TestInputsInDefeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rounds, sources := rapid.IntRange(1, 150).Draw(t, "rounds"), rapid.IntRange(0, 40).Draw(t, "sources")
		times, rank := rapid.IntRange(0, 9).Draw(t, "times"), rapid.Float64Range(0, 1).Draw(t, "rank")
		src := newRandomStream(rapid.Uint64().Draw(t, "seed"), 1, 0)
		m, past, stimulus := memory{}, &pastFiring{}, &pastFiring{}
		counts := make([]int, rounds)
		for r := range counts {
			v := volley{winners: []int32{}}
			for i := range int32(sources) {
				if src.below(3) == 0 {
					v.winners = append(v.winners, i)
				}
			}
			if counts[r] = len(v.winners); counts[r] > 0 {
				past.add(v, r)
			}
			if src.below(2) == 0 {
				stimulus.add(volley{}, r)
				counts[r] += times
			}
			m.defeats = append(m.defeats, defeat{rival: rival{float64(counts[r]) + float64(src.below(4))/2, src.uniform()}})
			if src.below(40) == 0 {
				m.defeats[r].input -= 0.5
			}
		}
		b := New(Settings{})
		m.need = make([]needed, (rounds+63)/64)
		for r := range rounds {
			m.limit(r)
		}
		want := slices.ContainsFunc(m.defeats, func(d defeat) bool { return d.beaten(0, rank) })
		for r, d := range m.defeats {
			want = want || d.beaten(float64(counts[r]), rank)
		}
		all := make([]int32, len(past.neurons))
		for k := range all {
			all[k] = int32(k)
		}
		in := b.inputs(&m, rank)
		if won := in.winsAtZero() || in.addAll(past.fired, all) || in.addTimes(stimulus.stimulus, times); won != want {
			t.Fatalf("won %v, want %v: defeats %v, inputs %v, rank %g", won, want, m.defeats, counts, rank)
		}
	})
}
