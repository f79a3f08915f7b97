// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
)

// Lanes come round, stay open, and see each other's work where they follow one another, in whatever
// order the device does it.
func TestLanes(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("mode", pretend.Random)
	d := device(t, lib, Settings{})
	var all []*Stream
	for range 2 * lanes {
		s, err := d.Lane()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if all[0] == all[1] || all[0] != all[lanes] {
		t.Errorf("%v: want %d streams in turn", all, lanes)
	}
	a, b := alloc(t, d, nil, 8), alloc(t, d, nil, 8)
	for seed := range 20 {
		lib.Set("seed", seed+1)
		got := make([]int64, 1)
		for _, err := range []error{
			all[0].CopyIn(background, a, 0, []int64{int64(seed)}), all[1].Follow(all[0]), all[1].Copy(b, 0, a, 0, 8),
			all[0].Follow(all[1]), all[0].CopyIn(background, a, 0, []int64{-1}), all[1].CopyOut(background, got, b, 0),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got[0] != int64(seed) {
			t.Errorf("seed %d: %d", seed, got[0])
		}
	}
}
