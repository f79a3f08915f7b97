// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package linalg

import (
	"math"
	"testing"
)

// Short and long vectors have the same sums and products.
func TestShortAndLongVectors(t *testing.T) {
	for _, n := range []int{0, 1, long - 1, long, long + 1, 3*long + 1} {
		x, y, want, dot := make([]float64, n), make([]float64, n+1), make([]float64, n+1), 0.0
		for i := range x {
			x[i], y[i] = math.Sin(float64(i+1)), math.Cos(float64(7*i))
			dot += x[i] * y[i]
		}
		y[n] = 3
		for i, v := range y {
			if want[i] = v; i < n {
				want[i] = v + float64(0.3*x[i]) // rounded twice
			}
		}
		for name, got := range map[string]float64{"Dot": Dot(x, y), "FastDot": FastDot(x, y)} {
			if math.Abs(got-dot) > 1e-14*float64(n) {
				t.Errorf("%s of %d elements is %g, want %g", name, n, got, dot)
			}
		}
		copied := make([]float64, n)
		Assign(copied, y)
		AddScaled(y, 0.3, x)
		for i, v := range y {
			if math.Abs(v-want[i]) > 1e-16*float64(n) || i < n && copied[i] == 0 {
				t.Errorf("element %d of %d is %g, want %g", i, n, v, want[i])
			}
		}
	}
}

// A vector that is too short is no room for another, whatever its memory has.
func TestAddScaledBeyondTheEnd(t *testing.T) {
	for _, n := range []int{2, 2 * long} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d numbers were added to one", n)
				}
			}()
			AddScaled(make([]float64, 1, n), 1, make([]float64, n))
		}()
	}
}
