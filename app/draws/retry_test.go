// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws_test

import (
	"testing"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/runs"
)

// Chains that have the metric of the posterior and agree but for their number are drawn again with twice the draws; others, and those with
// other faults, more carefully.
func TestSecondAttempts(t *testing.T) {
	few := diag.Report{{Check: diag.CheckRHat, Cause: "1.012"}, {Check: diag.CheckESS, OK: true}}
	diverged := diag.Report{{Check: diag.CheckRHat}, {Check: diag.CheckDivergence}}
	approximate := append(diag.Report{{Check: infer.CheckLaplace, OK: true}}, few...)
	for _, c := range []struct {
		metric        *infer.Metric
		rep           diag.Report
		how           string
		draws, warmup int
		accept        float64
	}{
		{&infer.Metric{}, few, "with twice the draws", 1000, 60, 0.8},
		{&infer.Metric{}, diverged, "more carefully", 2000, 180, 0.99},
		{nil, few, "more carefully", 2000, 180, 0.99},
		{nil, approximate, "with all parameters, without Laplace's approximation", 500, 60, 0.8},
	} {
		cfg := &draws.ChainConfig{}
		cfg.Draws, cfg.Warmup, cfg.TargetAccept, cfg.Retries = 500, 60, 0.8, 1
		how, err := draws.Sampling{Metric: c.metric, Dir: runs.Folder(t.TempDir()), Chain: cfg, Config: cfg}.Retry(c.rep)
		if how != c.how || cfg.Draws != c.draws || cfg.Warmup != c.warmup || cfg.TargetAccept != c.accept || cfg.Attempt != 1 {
			t.Errorf("%s: %d draws after %d, aiming at %g (%v)", how, cfg.Draws, cfg.Warmup, cfg.TargetAccept, err)
		}
	}
}
