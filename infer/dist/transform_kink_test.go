// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/infer/dist"
)

// The log Jacobians that are even functions have the right second derivative at 0, where fits often start.
func TestEvenJacobiansAreSmooth(t *testing.T) {
	for _, tr := range []dist.Transform{dist.IntervalTransform(-1, 3), dist.SinhTransform(1, -3, 2)} {
		x := ad.Input("x", 3)
		_, logJ := tr.Constrain(x)
		gradtest.Check(t, tr.Name, logJ, []*ad.Node{x}, [][]float64{{0, -30, 1e-3}}, true)
	}
}
