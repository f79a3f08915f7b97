// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/optim"
)

// Steps of numerical derivatives follow the size of the start, so that a parameter in a large unit, such as nanoseconds in seconds, is moved by a small part of it.
func TestDifferencesInLargeUnits(t *testing.T) {
	for _, unit := range []float64{1, 1e-6, 1e-9, 1e-12} {
		f := &optim.Function{N: 1, Start: []float64{3 * unit}, Lower: []float64{1e-3 * unit}, Value: func(x []float64) (float64, error) {
			z := math.Log(x[0] / unit)
			return z * z, nil
		}}
		r, err := optim.Minimize(context.Background(), f, optim.MinimizeSettings{})
		if err != nil {
			t.Fatal(err)
		}
		if want := 2 * math.Log(r.X[0]/unit) / r.X[0]; math.Abs(r.Grad[0]-want) > 1e-6*math.Abs(want)+1e-6 {
			t.Errorf("in units of %g the gradient at %g is %.8g, want %.8g", unit, r.X[0], r.Grad[0], want)
		}
	}
}
