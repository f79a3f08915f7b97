// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package g2

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// measuredDelays are 40 delays over four decades, and errors of 0.003.
func measuredDelays() Curve {
	c := Curve{Bin: 1}
	for i := range 40 {
		c.X, c.Y, c.Err = append(c.X, 1e-3*math.Pow(10, float64(i)/10)), append(c.Y, 1), append(c.Err, 0.003)
	}
	return c
}

// Ranks of the truth among the draws of posteriors of the model stretched are uniform, with exponents of all that its prior allows.
func TestStretchedPosteriorsAreCalibrated(t *testing.T) {
	model, err := ByName("stretched")
	if err != nil {
		t.Fatal(err)
	}
	for name, tau := range map[string]dist.Dist{"within the delays": dist.LogNormal(math.Log(0.1), 1), "the default": dist.LogNormal(0, 2)} {
		m, err := Posterior(model, measuredDelays(), Settings{Priors: map[string]dist.Dist{"tau": tau}})
		if err != nil {
			t.Fatal(err)
		}
		post, err := m.Compile()
		if err != nil {
			t.Fatal(err)
		}
		out, err := infer.SBC(context.Background(), post, infer.SBCSettings{Fits: 600, Sample: infer.Settings{TargetAccept: 0.9}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := out.Report()
		if err != nil || !r.Diagnose().OK() || len(out.Failed) > 0 {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("tau %s: %v", name, out)
	}
}

// Intervals of 95 % of fits hold the truth in 92 to 98 % of the curves of right models, with exponents from 0.5 to 1.8, and at most 2 % of the curves
// are flagged.
func TestStretchedFitsAreCalibrated(t *testing.T) {
	model, err := ByName("stretched")
	if err != nil {
		t.Fatal(err)
	}
	const n = 2000
	z := tensor.NewStream(7, 1, 0)
	var curves []Curve
	var truths [][]float64
	for i := range n {
		c := measuredDelays()
		c.Bin = i + 1
		truth := []float64{0.1 * math.Exp(0.7*z.Normal()), 1 + 0.01*z.Normal(), 0.1 + 0.4*z.Float64(), 0.5 + 1.3*z.Float64()}
		for k, x := range c.X {
			c.Y[k] = truth[1] + truth[2]*math.Exp(-math.Pow(2*x/truth[0], truth[3])) + c.Err[k]*z.Normal()
		}
		curves, truths = append(curves, c), append(truths, truth)
	}
	fits, err := FitAll(context.Background(), model, curves, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	held, flagged, unconverged := make([]int, len(model.Params)), 0, 0
	for i, f := range fits {
		if !f.OK() {
			unconverged++
		}
		if !f.Check.OK {
			flagged++
		}
		for k := range held {
			if math.Abs(f.X[k]-truths[i][k]) < 1.96*f.SD[k] {
				held[k]++
			}
		}
	}
	for k, p := range model.Params {
		share := float64(held[k]) / n
		t.Logf("%s: intervals of 95 %% hold the truth in %.1f %%", p.Name, 100*share)
		if share < 0.92 || share > 0.98 {
			t.Errorf("%s: intervals of 95 %% hold the truth in %.1f %%", p.Name, 100*share)
		}
	}
	if t.Logf("%d of %d are flagged, %d did not converge", flagged, n, unconverged); flagged > n/50 || unconverged > 0 {
		t.Error("too many")
	}
}
