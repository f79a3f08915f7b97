// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Equal values are one, and constants fold.
func TestEqualValuesAreOne(t *testing.T) {
	x := vector("x")
	expect(t, "rewriting", `
		v0[100] = input x
		v3[] = 6
		v4[100] = exp v0
		v5[100] = mul v3 v4`,
		ad.Mul(ad.Mul(ad.Scalar(2), ad.Scalar(3)), ad.Exp(x)), ad.Mul(ad.Exp(x), ad.Full(6, 100)))
}

// A sum of what repeats is a product, and a minus leaves it.
func TestReductionsAreMoved(t *testing.T) {
	x := vector("x")
	expect(t, "rewriting", `
		v0[100] = input x
		v2[] = sum v0 by [0]
		v3[] = neg v2`,
		ad.Sum(ad.Neg(x)))
	s := ad.Input("s")
	expect(t, "rewriting", `
		v0[] = input s
		v3[] = 100
		v4[] = mul v0 v3`,
		ad.Sum(ad.Broadcast(s, 100)))
}

// Operations work where their inputs still differ, before these repeat.
func TestOperationsComeBeforeBroadcasts(t *testing.T) {
	row := ad.Input("row", 1, 4)
	expect(t, "rewriting", `
		v0[1 4] = input row
		v2[1 4] = exp v0
		v3[3 4] = broadcast v2`,
		ad.Exp(ad.Broadcast(row, 3, 4)))
}
