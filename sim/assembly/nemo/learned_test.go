// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
)

// One sight multiplies exp(lambda (w-1)) = lambda beta c by exp(1/c), where c counts
// sights: nearly c + 1.
func TestLearnedCoinMatchesFrequencies(t *testing.T) {
	c, err := NewLearnedCoin(LearnedCoinSettings{K: 20, Contexts: 2, Outcomes: 3})
	must(t, err)
	count := 1.0
	for range 50 {
		must(t, c.Observe(1, 2))
		count *= math.Exp(1 / count)
		if got := math.Exp(c.lambda*(c.weight[1][2]-1)) / (c.lambda * c.beta); math.Abs(got-count) > 1e-9*count {
			t.Fatalf("a weight counts %v, want %v", got, count)
		}
	}
	for i, n := range []int{400, 250} {
		for range n {
			must(t, c.Observe(1, i))
		}
	}
	p, err := c.Probabilities(1)
	must(t, err)
	for o, n := range []float64{400, 250, 50} {
		if want := n / 700; math.Abs(p[o]-want) > 0.01 {
			t.Errorf("outcome %d has probability %.4f, want %.4f", o, p[o], want)
		}
	}
	other, err := c.Probabilities(0)
	must(t, err)
	for _, v := range other {
		if math.Abs(v-1.0/3) > 1e-12 {
			t.Errorf("probabilities %v in a context that nothing was seen in", other)
		}
	}
}

// The connections drawn bias a coin by about 0.1 (its standard deviation between
// draws), so that the mean over 8 draws of 60 flips has a standard error of 0.04: the
// tolerance of 0.16 makes a false alarm in 16000.
func TestLearnedCoinFlips(t *testing.T) {
	tier.SlowOnly(t)
	for _, seen := range [][]int{{20, 20}, {40, 10}, {10, 60}} {
		got, want := 0.0, 0.0
		for seed := range uint64(8) {
			c, err := NewLearnedCoin(LearnedCoinSettings{Seed: seed})
			must(t, err)
			for o, n := range seen {
				for range n {
					must(t, c.Observe(0, o))
				}
			}
			p, err := c.Probabilities(0)
			must(t, err)
			want = p[0]
			for range 60 {
				o, err := c.Flip(0)
				must(t, err)
				got += (1 - float64(o)) / 480
			}
		}
		t.Logf("seen %v: softmax %.3f, flips %.3f", seen, want, got)
		if math.Abs(got-want) > 0.16 {
			t.Errorf("seen %v: %.3f of the flips show the first outcome, want %.3f", seen, got, want)
		}
	}
}

func TestLearnedCoinContexts(t *testing.T) {
	c, err := NewLearnedCoin(LearnedCoinSettings{Contexts: 2, Seed: 5})
	must(t, err)
	for range 200 {
		must(t, c.Observe(0, 0))
		must(t, c.Observe(1, 1))
	}
	for context := range 2 {
		right := 0
		for range 40 {
			o, err := c.Flip(context)
			must(t, err)
			if o == context {
				right++
			}
		}
		if right < 34 { // the softmax is 0.995
			t.Errorf("context %d: %d of 40 flips show its outcome", context, right)
		}
	}
}
