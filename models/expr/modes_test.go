// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"context"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
)

// missesMode reports whether a report says that a mode is missing.
func missesMode(r diag.Report) bool {
	return slices.ContainsFunc(r.Problems(), func(a diag.Advice) bool { return a.Check == diag.CheckModes })
}

// check samples the posterior with some seeds. It is an error if a run passes whose draws lack more than 5 % of the posterior.
func (c severalModes) check(t *testing.T, runs uint64) {
	_, p := compile(t, c.document())
	weights := c.weights(t, p)
	lacking, told, passed := 0, 0, 0
	for seed := range runs {
		fit, err := infer.Sample(context.Background(), p, infer.Settings{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		r := fit.Diagnose()
		if c.missing(weights, fit) > 0.05 {
			if lacking++; missesMode(r) {
				told++
			}
			if r.OK() {
				passed++
			}
		}
	}
	t.Logf("%s: weights %.3v; of %d runs %d lack more than 5 %% of the posterior, of which %d are told of a mode", c.name, weights, runs, lacking, told)
	if passed > 0 {
		t.Errorf("%s: of %d runs that lack more than 5 %% of the posterior, %d pass", c.name, lacking, passed)
	}
}

func oneMode(t *testing.T, name, text string, runs uint64) {
	_, p := compile(t, text)
	for seed := range runs {
		fit, err := infer.Sample(context.Background(), p, infer.Settings{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if r := fit.Diagnose(); missesMode(r) {
			t.Errorf("%s, seed %d: a single mode is said to be several: %s", name, seed, r)
		}
	}
}

// Three posteriors of the table of modes: frequencies that the data do not tell apart, one frequency that is right among many that are
// not, and an amplitude beside the frequency. One has a single mode.
func TestModesOfFrequencies(t *testing.T) {
	for _, c := range posteriorsOfSeveralModes() {
		if slices.Contains([]string{"frequency 0", "one frequency of many", "amplitude and frequency"}, c.name) {
			c.check(t, 3)
		}
	}
	oneMode(t, "banana", posteriorsOfOneMode["banana"], 3)
}
