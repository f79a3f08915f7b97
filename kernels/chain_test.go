// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"slices"
	"testing"
)

// Steps along a chain of any length are those of its recurrences, have the same bits at every level, and leave what lies beyond the end alone.
func TestChain(t *testing.T) {
	for n := range 70 {
		q, z, w, g, diagonal, below := normals(n+4, 1), normals(n+4, 2), normals(n+4, 3), normals(n+4, 4), normals(n, 5), normals(n, 6)
		for i := range diagonal {
			diagonal[i] = 0.5 + math.Abs(diagonal[i])
		}
		if n > 9 {
			below[9] = 0
		}
		c := NewChain(diagonal, below[:max(n-1, 0)])
		const eps = 0.3
		departed, moved := slices.Clone(z), slices.Clone(q)
		x := 0.0
		for i := n - 1; i >= 0; i-- {
			departed[i] += eps / 2 * w[i]
			if i < n-1 {
				x *= below[i]
			}
			x = (departed[i] - x) / diagonal[i]
			moved[i] += eps * x
		}
		force, arrived := slices.Clone(w), slices.Clone(z)
		for i := range n {
			force[i] = g[i]
			if i > 0 {
				force[i] -= below[i-1] * force[i-1]
			}
			force[i] /= diagonal[i]
			arrived[i] += eps / 2 * force[i]
		}
		var first [4][]float64
		for _, l := range Levels() {
			got := [4][]float64{slices.Clone(z), slices.Clone(q), slices.Clone(w), slices.Clone(z)}
			c.Depart(l, got[1][:n], got[0][:n], w[:n], eps)
			c.Arrive(l, got[3][:n], got[2][:n], g[:n], eps)
			for k, want := range [4][]float64{departed, moved, force, arrived} {
				scale := 1.0
				for i, v := range want {
					if scale = max(scale, math.Abs(v)); math.Abs(got[k][i]-v) > 1e-12*scale || i >= n && got[k][i] != v {
						t.Fatalf("%v, %d elements: number %d of vector %d is %.17g: want %.17g", l, n, i, k, got[k][i], v)
					}
				}
				if l == PureGo {
					first[k] = got[k]
				} else if !slices.Equal(got[k], first[k]) {
					t.Fatalf("%v, %d elements: vector %d has other bits than in pure Go", l, n, k)
				}
			}
		}
	}
}
