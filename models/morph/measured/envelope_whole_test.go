// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
)

// Where a box cuts a grain that the sample has whole, the verdict names the box and no error of the detector; a grain that was simulated in
// the box agrees.
func TestBoxIsNamed(t *testing.T) {
	open := func(closed bool) *measured.Task {
		k, err := measured.Open(parse(t, map[string]any{"model": "grain", "grid": map[string]any{"shape": []int{14, 16, 16}, "voxel": 2}, "options": map[string]any{"matrix": true, "width": 1, "closed": closed},
			"energies": []float64{285}, "geometry": map[string]any{"distance": 40, "pixel": 1.2, "beam": []float64{8, 8}, "shape": []int{16, 16}}, "exposure": 1, "polarization": 0,
			"constants":  []any{[][]float64{{3e-3, 8e-4, 3e-3, 8e-4}}, [][]float64{{0, 0, 0, 0}}},
			"parameters": map[string]any{"period": map[string]any{"start": 12, "bounds": []float64{8, 16}}, "grain": map[string]any{"start": 8, "bounds": []float64{4, 16}}, "log_scale": map[string]any{"start": 9.4}},
			"fixed":      map[string]float64{"lamella": 5, "aligned": 0, "phi_deg": 0, "background": 20}}), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	for name, cut := range map[string]bool{"whole": false, "cut": true} {
		of, k := open(!cut), open(false)
		mu, err := of.Means()
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(3, 6))
		for i, v := range mu {
			k.Model.Data.Frames[0].Counts[i] = distuv.Poisson{Lambda: v, Src: random}.Rand()
		}
		s, err := k.Fit(t.Context(), optim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		v, err := k.Check(s)
		if err != nil {
			t.Fatal(err)
		}
		if named := len(v.Flags) > 0 && v.Flags[0].Kind == "box"; named == cut || v.OK != cut {
			t.Errorf("%s: %+v", name, v)
		}
	}
}
