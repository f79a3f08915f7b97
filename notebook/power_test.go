// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook_test

import (
	"testing"

	nb "github.com/euryale-dev/euryale/notebook"
)

// Options name the parameters of the model that is fitted, of which there are other ones than those of the default model.
func TestOptionsOfOtherModels(t *testing.T) {
	fits := demoData(t).Fit("stretched", nb.Settings{Bounds: map[string][2]float64{"beta": {0.5, 2}}})
	tau := fits.Tau()
	line := tau.Fit("power", nb.Settings{Start: map[string]float64{"tau0": 3e-5}, Fixed: map[string]float64{"alpha": 2}})
	if x := line.Fits[0].X; x[1] != 2 {
		t.Errorf("%v", x)
	}
	post := tau.Sample("power", nb.Settings{Seed: 1, Chains: 2, Draws: 50, Priors: map[string]string{"tau0": "lognormal(-10, 3)"}})
	if post.Fit == nil {
		t.Error("there are no draws")
	}
}
