// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package penalty

import (
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/dist"
)

// Normal distributions add a residual, of the logarithm if that is normal, intervals become bounds, and other distributions are refused
// with those that can be given.
func TestOf(t *testing.T) {
	inf := math.Inf(1)
	for text, want := range map[string]struct {
		residual, log bool
		bounds        [2]float64
	}{
		"normal(1, 2)":                {true, false, [2]float64{-inf, inf}},
		"lognormal(1, 2)":             {true, true, [2]float64{0, inf}},
		"halfnormal(2)":               {true, false, [2]float64{0, inf}},
		"truncatednormal(1, 2, 0, 3)": {true, false, [2]float64{0, 3}},
		"uniform(1, 2)":               {false, false, [2]float64{1, 2}},
	} {
		d, err := dist.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, bounds, err := Of("a", d)
		if err != nil || (p != nil) != want.residual || p != nil && p.Log != want.log || bounds != want.bounds {
			t.Errorf("%s: %+v %v %v", text, p, bounds, err)
		}
	}
	if _, _, err := Of("a", dist.Gamma(1, 1)); err == nil || !strings.Contains(err.Error(), "halfnormal") {
		t.Errorf("%v", err)
	}
}
