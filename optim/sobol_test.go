// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import "testing"

// Of the first 2^k points each slice of each axis holds one, shifted or not, and
// of the first two axes each box of that volume.
func TestSobolPointsAreSpread(t *testing.T) {
	const n, axes = 256, 64
	p, err := Sobol.points(n, axes, 12)
	if err != nil {
		t.Fatal(err)
	}
	for k := range axes {
		var hit [n]bool
		for i := range n {
			u := p[i*axes+k]
			if u <= 0 || u >= 1 || hit[int(u*n)] {
				t.Fatalf("axis %d: point %d at %g shares its slice", k, i, u)
			}
			hit[int(u*n)] = true
		}
	}
	for a := 1; a < n; a *= 2 {
		hit := map[[2]int]bool{}
		for i := range n {
			box := [2]int{int(p[i*axes] * float64(a)), int(p[i*axes+1] * float64(n/a))}
			if hit[box] {
				t.Fatalf("two points in one box of %d x %d", a, n/a)
			}
			hit[box] = true
		}
	}
	if _, err := Sobol.points(4, 65, 0); err == nil {
		t.Error("65 axes, no error")
	}
	if _, err := Sampler("halton").points(4, 2, 0); err == nil {
		t.Error("an unknown sampler, no error")
	}
	other, _ := Sobol.points(n, axes, 13)
	again, _ := Sobol.points(n, axes, 12)
	if other[0] == p[0] || again[7] != p[7] {
		t.Error("seeds do not matter, or do not repeat")
	}
	lhs, _ := LatinHypercube.points(100, 3, 1)
	for k := range 3 {
		var hit [100]bool
		for i := range 100 {
			hit[int(lhs[i*3+k]*100)] = true
		}
		for s, h := range hit {
			if !h {
				t.Fatalf("axis %d: slice %d is empty", k, s)
			}
		}
	}
}
