// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"testing"
)

// Realised rates are what was asked for, to the 0.1 beyond which Diagnose warns.
func TestTargetAcceptIsRealised(t *testing.T) {
	for _, delta := range []float64{0.6, 0.8, 0.95} {
		fit := mustSample(t, independent(1, 2, 3, 4, 5), Settings{Chains: 2, TargetAccept: delta, Seed: 8})
		for c := range 2 {
			if got := fit.acceptance(c); math.Abs(got-delta) > 0.1 {
				t.Errorf("aimed at %g, chain %d got %.3f", delta, c, got)
			}
		}
	}
}
