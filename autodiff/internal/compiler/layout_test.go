// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Views share the array of what they view; a reshape across the order copies.
func TestViewsShareArrays(t *testing.T) {
	m := ad.Input("m", 3, 4)
	turned := ad.T(m)
	expect(t, "layout", `
		v0[3 4] = input m
		v1[4 3] = permute v0 by [1 0]: in v0 from 0, strides [1 4]
		v2[2 3] = slice v1 by [1 2 2 0 1 3]: in v0 from 1, strides [2 4]
		v3[2 3] = exp v2`,
		ad.Exp(ad.SliceStep(turned, 0, 1, 4, 2)))
	expect(t, "layout", `
		v0[3 4] = input m
		v1[4 3] = permute v0 by [1 0]: in v0 from 0, strides [1 4]
		v4[4 3] = copy v1
		v2[12] = reshape v4: in v4 from 0, strides [1]
		v3[12] = exp v2`,
		ad.Exp(ad.Reshape(turned, 12)))
}

// Products take transposed factors as they are.
func TestProductsTakeTransposes(t *testing.T) {
	a, b := ad.Input("a", 5, 3), ad.Input("b", 5, 2)
	expect(t, "layout", `
		v0[5 3] = input a
		v1[5 2] = input b
		v2[3 5] = permute v0 by [1 0]: in v0 from 0, strides [1 3]
		v3[3 2] = matmul v2 v1 by [1 0]`,
		ad.MatMul(ad.T(a), b))
}
