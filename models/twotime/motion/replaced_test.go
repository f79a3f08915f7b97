// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package motion

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/homodyne"
)

// Frames that the correlator replaced are left out, also where every second frame of the movie was used, from the tenth on, and by a fit that begins later.
func TestReplacedFramesAreLeftOut(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.hdf")
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w.Attr("/", "replaced_frame_numbers", "0,12,14-15,1000")
	const n = 8
	trace := make([]float64, 2*n)
	for i := range n {
		trace[i], trace[n+i] = float64(10+2*i), 1
	}
	w.Write("/xpcs/spatial_mean/intensity_vs_time", trace, hdf5.Layout{Shape: []int{2, n}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c2 := &homodyne.Correlation{First: 3, Last: n, C2: [][]float64{make([]float64, (n-2)*(n-2))}}
	note, err := replaced(&homodyne.File{Name: name, Layout: homodyne.APSU}, c2)
	if err != nil || !strings.Contains(note, "frames [3 8] were left out") {
		t.Errorf("%q, %v", note, err)
	}
	for i, v := range c2.C2[0] {
		if r, c := i/(n-2), i%(n-2); math.IsNaN(v) != (r == 0 || c == 0 || r == 5 || c == 5) {
			t.Errorf("entry (%d, %d) is %g", r, c, v)
		}
	}
}
