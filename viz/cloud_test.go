// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Discs that are counted by cells look like discs that are drawn one by one, and none is lost.
func TestCoarseCover(t *testing.T) {
	const w, h = 60, 40
	random := rand.New(rand.NewPCG(1, 2))
	fine, coarse := newCover(w, h, 0.02, false), newCover(w, h, 0.02, true)
	for range 20_000 {
		x, y := w/2+4*random.NormFloat64(), h/2+4*random.NormFloat64()
		fine.add(x, y)
		coarse.add(x, y)
	}
	for _, at := range [][2]float64{{0, 0}, {w, h}, {3.3, 35.1}, {w, 0}} { // far from the others
		fine.add(at[0], at[1])
		coarse.add(at[0], at[1])
	}
	a, b := fine.depths(), coarse.depths()
	for i := range a {
		if math.Abs(math.Exp(-a[i])-math.Exp(-b[i])) > 0.03 {
			t.Errorf("pixel %d, %d has the depth %.3f, but %.3f by cells", i%w, i/w, a[i], b[i])
		}
	}
	for _, i := range []int{0, h*w - 1, 35*w + 3, w - 1} {
		if b[i] == 0 {
			t.Errorf("the draw at pixel %d, %d is lost", i%w, i/w)
		}
	}
}
