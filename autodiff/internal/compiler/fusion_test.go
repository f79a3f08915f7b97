// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Elementwise values of one shape and their sums are one job; only what others read is
// written.
func TestChainsFuse(t *testing.T) {
	x := vector("x")
	y := ad.Exp(ad.Sin(x))
	expect(t, "fusion", `
		stage 0: over [100]; v1 sin; v2* exp; v3* sum
		stage 1: over [100]; v4* div`,
		ad.Sum(y), ad.Div(y, ad.Sum(y)))
}

// What only a later job of the same shape reads is computed there.
func TestJobsWaitForTheirReader(t *testing.T) {
	x, y := vector("x"), ad.Input("y", 7)
	expect(t, "fusion", `
		stage 0: over [7]; v3* sum
		stage 1: over [100]; v2 exp; v4* mul`,
		ad.Mul(ad.Exp(x), ad.Sum(y)))
}
