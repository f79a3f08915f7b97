// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package connectome

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/euryale-dev/euryale/infer"
)

// Of 1000 right models at most 1 % and what chance adds are flagged.
func TestRightAssembliesAreSeldomFlagged(t *testing.T) {
	flagged, runs := 0, 0
	judge := func(fit *infer.Fit, err error) {
		if err != nil {
			t.Fatal(err)
		}
		v, err := fit.CheckModel(infer.CheckSettings{})
		if err != nil {
			t.Fatal(err)
		}
		if runs++; !v.OK {
			flagged++
			t.Log(v)
		}
	}
	cfg := func(k int) infer.Settings { return infer.Settings{Seed: uint64(k), Chains: 2, Warmup: 200, Draws: 200} }
	for k := range 250 {
		r := rand.New(rand.NewPCG(uint64(k), 3))
		d, s, c, a := Degrees{K: 200}, Strengths{}, Completion{K: 100}, Association{K: 100}
		p, beta, half, slope := 0.02+0.3*r.Float64(), 0.15*r.Float64(), 0.1+0.3*r.Float64(), r.NormFloat64()
		for i := range 60 {
			d.Count = append(d.Count, drawBinomial(r, d.K, p))
			s.Weight = append(s.Weight, math.Pow(1+beta, float64(i%8))*math.Exp(0.05*r.NormFloat64()))
			s.Count, s.Times = append(s.Count, 1), append(s.Times, i%8)
			at := float64(i+1) / 60
			c.Alpha, c.Recovered = append(c.Alpha, at), append(c.Recovered, drawBinomial(r, c.K, 0.85/(1+math.Exp(-12*(at-half)))))
			a.Rounds, a.Overlap = append(a.Rounds, float64(i)), append(a.Overlap, drawBinomial(r, a.K, 1/(1+math.Exp(-(0.3+slope*(float64(i)-15)/5)))))
		}
		ctx := context.Background()
		judge(FitP(ctx, d, cfg(k)))
		judge(FitBeta(ctx, s, cfg(k)))
		judge(FitCompletion(ctx, c, cfg(k)))
		judge(FitAssociation(ctx, a, cfg(k)))
	}
	t.Logf("%d of %d flagged", flagged, runs)
	if flagged > 22 { // 10 expected, four standard deviations
		t.Errorf("%d of %d right models flagged", flagged, runs)
	}
}
