// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
)

// A model without the order of its shell misses blocks so far that the draws say nothing about a fit without them; draws about such fits do,
// and agree with the others' importance sampling where that can be trusted.
func TestBlocksAreRefitted(t *testing.T) {
	tier.SlowOnly(t)
	k := smallOf(t, 3, true)
	k.Params = slices.DeleteFunc(k.Params, func(p measured.Param) bool { return p.Name == "aligned" })
	k.Fixed = map[string]float64{"aligned": truthOf["aligned"] - 0.1}
	s, err := k.Fit(t.Context(), optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	fit, err := k.Sample(t.Context(), s, infer.Settings{Seed: 1, Chains: 2, Warmup: 10, Draws: 40})
	if err != nil {
		t.Fatal(err)
	}
	before, _, err := k.LOO(fit, 0)
	if err != nil {
		t.Fatal(err)
	}
	after, refitted, err := k.LOO(fit, 4)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(before.Bad()); n < 4 || len(refitted) < 3 || len(after.Bad()) != n-len(refitted) || !(after.ELPD < before.ELPD) {
		t.Errorf("%d blocks are beyond importance sampling, and %d with four refits; the estimates are %g and %g", n, len(after.Bad()), before.ELPD, after.ELPD)
	}
	i := slices.IndexFunc(before.Points, func(p diag.PointELPD) bool { return p.K < 0.2 })
	p := before.Points[i]
	q, err := k.Refitted(fit, before, i)
	if err != nil || q == nil {
		t.Fatal(q, err)
	}
	if math.Abs(p.ELPD-q.ELPD) > 4*math.Hypot(p.MCSE, q.MCSE) {
		t.Errorf("block %d: importance sampling says %g +- %g, draws about a fit without it %g +- %g", i, p.ELPD, p.MCSE, q.ELPD, q.MCSE)
	}
}
