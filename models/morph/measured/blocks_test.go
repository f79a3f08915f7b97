// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import "testing"

// Blocks of large detectors are small shares of them, on which importance sampling can be trusted; those of small ones still have pixels.
func TestNumberOfRings(t *testing.T) {
	for n, want := range map[int]int{48: 6, 20 * 22: 6, 60 * 60: 8, 96 * 96: 12, 1024 * 1024: 12} {
		if got := rings(n); got != want {
			t.Errorf("%d numbers have %d rings, want %d", n, got, want)
		}
	}
}
