// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"path/filepath"
	"strings"
	"testing"
)

// Expected coincidences are read as they were written, and bins with few of them are named.
func TestFewPhotons(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.hdf")
	m := &Multitau{Delay: []float64{1, 2}, G2: &Matrix{2, 3, []float64{1.5, 1, 1, 1.25, 1, 1}}, Coincidences: &Matrix{2, 3, []float64{400, 16, 30, 100, 1, 100}}}
	r := &Result{Flavour: Nexus, FrameTime: 0.1, QMap: &QMap{Dynamic: Partition{Axis0: []float64{1, 2, 3}, Cells: []int{0, 1, 2}}}, Multitau: m}
	if err := Write(name, r); err != nil {
		t.Fatal(err)
	}
	got, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	for _, m := range []*Multitau{m, got.Multitau} {
		for b, want := range []string{"", "at 2 of 2 delays: 1 pairs of photons are expected at 2 frames, where g2 has an error of about 1", ""} {
			text, remedy, judged := m.FewPhotons(b + 1)
			if (text == "") != (want == "") || !strings.Contains(text, want) || judged != (want == "") || (remedy == "") != (want == "") {
				t.Errorf("bin %d: %q, %q, %v: want %q", b+1, text, remedy, judged, want)
			}
		}
		if bin, bins := m.FewestPhotons(); bin != 2 || bins != 1 {
			t.Errorf("bin %d of %d has fewest photons, want bin 2 of 1", bin, bins)
		}
	}
	m.Coincidences = nil
	if bin, bins := m.FewestPhotons(); bin != 0 || bins != 0 {
		t.Errorf("bin %d of %d where nothing is known", bin, bins)
	}
}
