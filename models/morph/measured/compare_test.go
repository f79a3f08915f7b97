// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
)

// The evidence falls by about half of what the deviance rises where a model leaves the shell's order out, and the log-likelihoods that a
// posterior stores are those of blocks of a ring, a sector and an energy.
func TestComparisonOfModels(t *testing.T) {
	tier.SlowOnly(t)
	evidence, deviance := map[string]float64{}, map[string]float64{}
	for _, name := range []string{"ordered", "isotropic"} {
		k := smallOf(t, 3, true)
		if name == "isotropic" {
			k.Params = slices.DeleteFunc(k.Params, func(p measured.Param) bool { return p.Name == "aligned" })
			k.Fixed = map[string]float64{"aligned": 0}
		}
		for i := range k.Params {
			k.Params[i].Mean, k.Params[i].SD = truthOf[k.Params[i].Name], 3
		}
		s, err := k.Fit(t.Context(), optim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := k.Evidence(s)
		if err != nil || !(e.SE < 0.2) {
			t.Error(e, err)
		}
		evidence[name], deviance[name] = e.Log, s.Deviance
		if name == "isotropic" {
			continue
		}
		fit, err := k.Sample(t.Context(), s, infer.Settings{Seed: 1, Chains: 1, Warmup: 8, Draws: 16})
		if err != nil {
			t.Fatal(err)
		}
		loo, _, err := k.LOO(fit, 0)
		if err != nil || len(loo.Points) < 60 || len(loo.Points) > 72 {
			t.Fatal(len(loo.Points), err)
		}
		tree, err := fit.Data(infer.DataSettings{})
		if err != nil {
			t.Fatal(err)
		}
		g, err := tree.Group("log_likelihood")
		if err != nil || g.Var("counts").Shape[2] != len(loo.Points) {
			t.Error("the stored log-likelihoods are not those of the blocks", err)
		}
	}
	d, want := evidence["ordered"]-evidence["isotropic"], (deviance["isotropic"]-deviance["ordered"])/2
	if !(d > 20) || math.Abs(d-want) > 10 {
		t.Errorf("the evidence differs by %g, the deviance by twice %g", d, want)
	}
}

// Without priors there is no evidence, and the parameters are named.
func TestEvidenceNeedsPriors(t *testing.T) {
	if _, err := smallOf(t, 1, true).Evidence(nil); err == nil || !strings.Contains(err.Error(), "to radius, shell, aligned, log_scale, centre_x, centre_y") {
		t.Error(err)
	}
}
