// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// Sensitivities are those of arviz-stats.
func TestPowerScaling(t *testing.T) {
	b, err := os.ReadFile("testdata/power_scaling.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		X                 []float64
		LogPrior          []float64 `json:"log_prior"`
		LogLik            []float64 `json:"log_lik"`
		Prior, Likelihood float64
	}
	if err := json.Unmarshal(b, &cases); err != nil || len(cases) == 0 {
		t.Fatal(err)
	}
	for i, c := range cases {
		for part, v := range map[string][2]float64{"prior": {PowerScaling(c.X, c.LogPrior), c.Prior}, "likelihood": {PowerScaling(c.X, c.LogLik), c.Likelihood}} {
			if !(math.Abs(v[0]-v[1]) < 1e-6) {
				t.Errorf("case %d, %s: %g: want %g", i, part, v[0], v[1])
			}
		}
	}
	if v := PowerScaling([]float64{1, 1}, []float64{0, -1}); !math.IsNaN(v) {
		t.Errorf("%g of draws that do not vary", v)
	}
}
