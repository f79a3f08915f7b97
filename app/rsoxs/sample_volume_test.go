// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// ringFolder writes images of rings at three energies as a simulation would.
func ringFolder(t *testing.T) string {
	t.Helper()
	const n = 48
	images := tensor.New(tensor.Float64, 3, 1, n, n)
	for i := range images.Size() {
		e, y, x := i/(n*n), float64(i/n%n-n/2), float64(i%n-n/2)
		images.Data().([]float64)[i] = math.Exp(-math.Hypot(x, y)/8) * (2 + math.Cos(math.Hypot(x, y)) + 0.1*float64(e)*x*x/(1+x*x+y*y))
	}
	return patternFolder(t, []float64{284.4, 285.2, 288.6}, images)
}
