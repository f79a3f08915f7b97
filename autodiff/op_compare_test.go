// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// A NaN beats an infinity, which math.Max lets win.
func TestExtremesOfNaNAndInfinity(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	x, y := ad.Input("x", 4), ad.Input("y", 4)
	at := [][]float64{{inf, nan, -inf, nan}, {nan, inf, nan, -inf}}
	for _, w := range ways() {
		outs := []*ad.Node{ad.Maximum(x, y), ad.Minimum(x, y), ad.Max(x), ad.Min(y), ad.MaxAxes(ad.Stack(1, x, y), 1), ad.MinAxes(ad.Stack(0, x, y), 0),
			ad.Maximum(ad.Index(x, 0, 0), ad.Index(y, 0, 0)), ad.Minimum(ad.Index(x, 0, 2), ad.Index(y, 0, 2))}
		for i, got := range results(t, w, outs, []*ad.Node{x, y}, at) {
			for k, v := range got {
				if v == v {
					t.Errorf("%v, output %d, element %d is %g, want NaN", w, i, k, v)
				}
			}
		}
	}
}
