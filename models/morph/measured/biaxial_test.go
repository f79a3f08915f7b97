// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
)

// The angle by which molecules with three optical axes are turned about their director is found, and matters.
func TestTwistIsFound(t *testing.T) {
	tier.SlowOnly(t)
	k := small(t, 3)
	k.Model.Tables = slices.Clone(k.Model.Tables)
	k.Model.Tables[1].Second = [][2]float64{{-4e-4, 9e-4}, {1.2e-3, 3e-4}}
	const truth = 40.0
	k.Params = append(k.Params, measured.Param{Name: "twist_2", Start: truth, Bounds: []float64{-180, 180}})
	mu, err := k.Means()
	if err != nil {
		t.Fatal(err)
	}
	random, pixels := rand.New(rand.NewPCG(3, 6)), len(k.Model.Data.Frames[0].Counts)
	for i, v := range mu {
		k.Model.Data.Frames[i/pixels].Counts[i%pixels] = distuv.Poisson{Lambda: v, Src: random}.Rand()
	}
	k.Params[len(k.Params)-1].Start = 20
	fit := &measured.Task{Model: k.Model, Params: k.Params}
	s, err := fit.Fit(t.Context(), optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.Index(s.Names, "twist_2"); !(math.Abs(s.X[i]-truth) < 4*s.SD[i]) || !(s.SD[i] < 5) {
		t.Errorf("the twist is %g +- %g, want %g", s.X[i], s.SD[i], truth)
	}
}

// Constants along three axes come from rows of six numbers or from tables, for models of voxels alone.
func TestConstantsOfThreeAxes(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "crystal.txt")
	if err := os.WriteFile(table, []byte("Energy\tDelta_Perp_2\tBeta_Perp_2\tDeltaPara\tBetaPara\tDeltaPerp\tBetaPerp\n286\t5e-3\t6e-3\t1e-3\t2e-3\t3e-3\t4e-3\n284\t5e-4\t6e-4\t1e-4\t2e-4\t3e-4\t4e-4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	row := []float64{1e-4, 2e-4, 3e-4, 4e-4, 5e-4, 6e-4}
	document := func() map[string]any {
		return map[string]any{"model": "grain", "grid": map[string]any{"shape": []int{8, 10, 10}, "voxel": 2.5}, "energies": []float64{284, 285}, "geometry": map[string]any{"distance": 40, "pixel": 0.5, "beam": []float64{8, 8}, "shape": []int{16, 16}}, "exposure": 1, "polarization": 0,
			"constants": []any{table}, "parameters": map[string]any{"period": map[string]any{"start": 12}, "lamella": map[string]any{"start": 5}, "aligned": map[string]any{"start": 0.6}, "theta_deg": map[string]any{"start": 80}, "phi_deg": map[string]any{"start": 20}, "tilt_deg": map[string]any{"start": 0}, "interface": map[string]any{"start": 2}, "grain": map[string]any{"start": 10}, "width": map[string]any{"start": 1}, "twist_1": map[string]any{}}}
	}
	for _, constants := range [][]any{{table}, {[][]float64{row, row}}} {
		d := document()
		d["constants"] = constants
		k, err := measured.Open(parse(t, d), dir)
		if err != nil {
			t.Fatal(err)
		}
		if second := k.Model.Tables[0].Second; len(second) != 2 || second[0] != [2]float64{5e-4, 6e-4} {
			t.Errorf("the constants along the second axis are %v", second)
		}
		if p := k.Params[len(k.Params)-1]; p.Name != "twist_1" || p.Start != 20 {
			t.Errorf("the twist is %+v", p)
		}
	}
	for _, c := range []struct {
		spoil func(d map[string]any)
		says  string
	}{
		{func(d map[string]any) { d["options"] = map[string]any{"closed": true} }, "crystal.txt has constants along three axes, and closed forms know two: leave options.closed out"},
		{func(d map[string]any) {
			d["options"], d["constants"] = map[string]any{"matrix": true}, []any{table, [][]float64{row, row}}
		}, "the matrix, material 2, has constants along three axes, and a matrix is isotropic"},
		{func(d map[string]any) { d["constants"] = []any{[][]float64{row, row[:5]}} }, "a row has 5 numbers"},
		{func(d map[string]any) { d["constants"] = []any{[][]float64{row[:4], row}} }, "a row has 6 numbers: want DeltaPara, BetaPara, DeltaPerp, BetaPerp in all rows, or in all DeltaPerp2, BetaPerp2 after these"},
		{func(d map[string]any) { d["constants"] = []any{[][]float64{row[:4], row[:4]}} }, `cannot have the parameter "twist_1": material 1 has no constants along three axes`},
	} {
		d := document()
		c.spoil(d)
		if _, err := measured.Open(parse(t, d), dir); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v\nwant %q in it", err, c.says)
		}
	}
}
