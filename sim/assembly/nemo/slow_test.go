// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package nemo

import (
	"math"
	"slices"
	"testing"
)

// Valid sentences of 300 after 15 presentations, over draws of the connections: ours
// against those of an independent program (see TestAutomatonSentences). Kolmogorov and
// Smirnov's distance of two samples of 8 reaches 7/8 once in 500.
func TestAutomatonLaw(t *testing.T) {
	want := []int{212, 282, 269, 297, 253, 289, 190, 295}
	for _, s := range statistics(t, "nemo_statistical.json", "pfa") {
		if s.Presentations != 15 || s.Trials != 300 {
			t.Skip("the reference is another one")
		}
		var got []int
		for seed := range uint64(8) {
			m, valid := s.automaton(t, 50+seed), 0
			for range s.Trials {
				list, err := m.Generate(0, s.words())
				must(t, err)
				if s.valid(list) {
					valid++
				}
			}
			got = append(got, valid)
		}
		t.Logf("%v, independently %v", got, want)
		if d := distance(got, want); d >= 7 {
			t.Errorf("%v and %v are %d/8 apart", got, want, d)
		}
	}
}

// distance is Kolmogorov and Smirnov's, times the size of both samples.
func distance(a, b []int) (d int) {
	for _, v := range slices.Concat(a, b) {
		below := 0
		for i := range a {
			if a[i] <= v {
				below++
			}
			if b[i] <= v {
				below--
			}
		}
		d = max(d, below, -below)
	}
	return d
}

// With more outcomes than two the coin follows the frequencies still, as measured: the
// mean over 10 draws of the connections has a standard error of about 0.035.
func TestLearnedCoinOfFour(t *testing.T) {
	got := make([]float64, 4)
	for seed := range uint64(10) {
		c, err := NewLearnedCoin(LearnedCoinSettings{Outcomes: 4, Seed: seed})
		must(t, err)
		for o, n := range []int{8, 16, 24, 32} {
			for range n {
				must(t, c.Observe(0, o))
			}
		}
		for range 60 {
			o, err := c.Flip(0)
			must(t, err)
			got[o] += 1.0 / 600
		}
	}
	t.Logf("flips %.3f, seen %.1f", got, []float64{0.1, 0.2, 0.3, 0.4})
	for o, p := range []float64{0.1, 0.2, 0.3, 0.4} {
		if math.Abs(got[o]-p) > 0.13 {
			t.Errorf("outcome %d is shown by %.3f of the flips, want %.1f within 0.13", o, got[o], p)
		}
	}
}
