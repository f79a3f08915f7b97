// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// Files of one region have g2 and its errors with one axis, that of the delays.
func TestOneRegion(t *testing.T) {
	name := filepath.Join(t.TempDir(), "one.hdf")
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for key, v := range map[string]any{
		"/xpcs/multitau/delay_list": []int64{1, 2, 4}, "/xpcs/multitau/normalized_g2": []float64{1.3, 1.2, 1.1}, "/xpcs/multitau/normalized_g2_err": []float64{0.01, 0.01, 0.02},
		"/xpcs/qmap/dynamic_v_list_dim0": []float64{0.01}, "/xpcs/qmap/dynamic_v_list_dim1": []float64{0}, "/xpcs/qmap/dynamic_num_pts": []int64{1, 1}, "/xpcs/qmap/dynamic_index_mapping": []int64{0},
		"/entry/instrument/detector_1/frame_time": []float64{0.001}, "/entry/instrument/detector_1/count_time": []float64{0.001},
	} {
		if err := w.Write(key, v, hdf5.Layout{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if g2, sd := r.Multitau.Bin(1); r.Multitau.G2.Cols != 1 || !slices.Equal(g2, []float64{1.3, 1.2, 1.1}) || !slices.Equal(sd, []float64{0.01, 0.01, 0.02}) {
		t.Error(g2, sd)
	}
}
