// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/diag"
)

// Draws of which some are infinite have neither R-hat nor an effective sample size, and the advice says so.
func TestInfiniteDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([][]float64, 4)
	for c := range x {
		x[c] = make([]float64, 500)
		for i := range x[c] {
			x[c][i] = rng.NormFloat64()
		}
	}
	for _, v := range []float64{math.Inf(1), math.Inf(-1)} {
		x[2][7] = v
		s := diag.Summarize([]string{"a"}, [][][]float64{x}, diag.Settings{})
		if r := s.Rows[0]; !math.IsNaN(r.RHat) || !math.IsNaN(r.ESSBulk) || !math.IsNaN(r.ESSTail) || math.IsNaN(r.Q50) {
			t.Errorf("%g: %+v", v, r)
		}
		if rep := diag.Diagnose(s, diag.Evidence{Draws: 2000}); rep.OK() || !strings.Contains(rep.String(), "infinite") {
			t.Errorf("%g: %v", v, rep)
		}
	}
}

// An observation that some draw calls impossible is named as such, and not as one of much influence.
func TestImpossibleObservation(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	ll := make([][][]float64, 2)
	for c := range ll {
		ll[c] = make([][]float64, 400)
		for i := range ll[c] {
			ll[c][i] = []float64{-1 + 0.1*rng.NormFloat64(), -2 + 0.1*rng.NormFloat64(), -1.5 + 0.1*rng.NormFloat64()}
		}
	}
	ll[1][3][1] = math.Inf(-1)
	loo, err := diag.LOO(ll, diag.LOOSettings{})
	if err != nil {
		t.Fatal(err)
	}
	waic, err := diag.WAIC(ll, diag.Posterior)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []diag.ELPD{loo, waic} {
		problems := e.Diagnose().Problems()
		if len(problems) != 1 || problems[0].Check != diag.CheckImpossible || !strings.Contains(problems[0].Cause, "observation 1)") || !strings.Contains(problems[0].Cause, "-Inf") {
			t.Errorf("%s: %v", e.Method, problems)
		}
	}
}
