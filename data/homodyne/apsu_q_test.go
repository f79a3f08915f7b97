// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// The q of a cell is the mean over the pixels of its bins where the map has it, over all azimuths, and its centre elsewhere.
func TestQOfCellsIsThatOfTheirPixels(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.hdf")
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for key, v := range map[string][]float64{"dynamic_v_list_dim0": {0.1, 0.2, 0.3}, "dynamic_v_list_dim1": {0, 90}, "dynamic_bin_q": {0.14, 0.12, 0.22}} {
		w.Write("/xpcs/qmap/"+key, v, hdf5.Layout{Shape: []int{len(v)}})
	}
	w.Write("/xpcs/qmap/dynamic_index_mapping", []int64{0, 1, 2}, hdf5.Layout{Shape: []int{3}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := hdf5.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	g, err := (&File{Name: name}).grid(h)
	if err != nil {
		t.Fatal(err)
	}
	for row, want := range []float64{0.13, 0.22, 0.3} {
		if math.Abs(g.q[row]-want) > 1e-12 {
			t.Errorf("row %d is at %g: want %g", row, g.q[row], want)
		}
	}
}
