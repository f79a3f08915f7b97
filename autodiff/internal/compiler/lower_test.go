// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// A loop runs over as few axes as its arrays allow, in as few registers as it needs.
func TestLoops(t *testing.T) {
	m, row := ad.Input("m", 30, 40), ad.Input("row", 40)
	expect(t, "loops", `loop [1200] regs=1 loads=0 fills=0 blocks=1: exp sin`, ad.Sin(ad.Exp(m)))
	expect(t, "loops", `loop [30 40] regs=0 loads=0 fills=0 blocks=1: add`, ad.Add(m, row))
	expect(t, "loops", `loop [1200] regs=0 loads=0 fills=0 blocks=1: rsub_s`, ad.Sub(ad.Scalar(1), m))
}

// Sums of products and of squares are taken without the products.
func TestSumsOfProducts(t *testing.T) {
	x, y := vector("x"), vector("y")
	expect(t, "loops", `loop [100] regs=0 loads=0 fills=0 blocks=1: dot->1`, ad.Sum(ad.Mul(x, y)))
	expect(t, "loops", `loop [100] regs=0 loads=0 fills=0 blocks=1: sumsq->1`, ad.Sum(ad.Square(x)))
}
