// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// problems are small ones, one of each model, with a true point.
var problems = map[string]struct {
	grid, more string
	truth      []float64
}{
	"core_shell": {`[4, 12, 12]`, `"parameters": {"radius": {"start": 5}, "shell": {"start": 4}, "aligned": {"start": 0.5}, "x": {"start": 11}, "scale": {"start": 1}}`, []float64{5.5, 4.2, 0.6, 11.3, 1.2}},
	"rod":        {`[4, 12, 12]`, `"options": {"radial": true, "matrix": true}, "fixed": {"theta_deg": 60, "hole": 1.5, "length": 14, "background": 1e-5}, "parameters": {"radius": {"start": 5}, "aligned": {"start": 0.5}, "phi_deg": {"start": 20}}`, []float64{5.5, 0.6, 25}},
	"lamella":    {`[4, 12, 12]`, `"parameters": {"period": {"start": 9}, "thickness": {"start": 4}, "aligned": {"start": 0.5}, "tilt_deg": {"start": 5}}`, []float64{9.3, 4.4, 0.6, 12}},
	"film": {`[2, 10, 12]`, `"options": {"order": 1}, "fixed": {"aligned": 0.7}, "parameters": {"composition": {"start": 0}, "director_deg": {"start": [1, 2, 3, 4, 5, 6, 7, 8, 9]}}`,
		[]float64{.1, .2, .3, .4, .5, -.6, .7, -.8, .9, 10, 20, 30, 25, 15, 5, 3, 2, 1}},
	"voxels": {`[1, 10, 12]`, `"options": {"from": [0, 3, 3], "to": [1, 5, 6]}, "fixed": {"aligned": 0.5}, "parameters": {"logit": {"start": 0, "bounds": [-5, 5]}, "psi_deg": {"start": 10}}`,
		[]float64{1, -1, 2, 0, 0.5, -0.5, 10, 20, 30, 40, 50, 60}},
}

func document(model string, more string) string {
	p := problems[model]
	n := 1
	if model == "core_shell" || strings.Contains(p.more, "matrix") {
		n = 2
	}
	return fmt.Sprintf(`{"model": %q, "grid": {"shape": %s, "voxel": 2}, %s, "data": "x", "constants": [%s]%s}`, model, p.grid, p.more,
		strings.TrimSuffix(strings.Repeat("\"vacuum\",", n), ","), more)
}

// A problem of every model is solved by what its data were made of, and its numbers
// reach the place they belong.
func TestProblemModels(t *testing.T) {
	for model, c := range problems {
		t.Run(model, func(t *testing.T) {
			p, err := morph.ParseProblem([]byte(document(model, "")))
			if err != nil {
				t.Fatal(err)
			}
			scene, err := p.Scene(c.truth)
			if err != nil {
				t.Fatal(err)
			}
			m, err := scene.Morphology(p.Grid.Voxel)
			if err != nil {
				t.Fatal(err)
			}
			cfg := rsoxs.Config{Energies: []float64{285}, Angles: rsoxs.Angles{Start: 0, Increment: 60, End: 120}, RotMask: true}
			optics := rsoxs.Optics{[]rsoxs.Constants{{DeltaPara: -2e-3, BetaPara: 2e-3, DeltaPerp: -1e-3, BetaPerp: 4e-3}, {DeltaPara: 1e-3, DeltaPerp: 2e-3}}[:len(m.Materials)]}
			data, err := rsoxs.Simulate(context.Background(), m, optics, cfg)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range data.Intensity.Data().([]float64) {
				switch model {
				case "core_shell":
					data.Intensity.Data().([]float64)[i] = c.truth[4] * v
				case "rod":
					data.Intensity.Data().([]float64)[i] = v + 1e-5
				}
			}
			v, err := p.Inversion(morph.Measurement{Config: cfg, Optics: optics, Data: data.Intensity})
			if err != nil {
				t.Fatal(err)
			}
			f, err := v.Function()
			if err != nil {
				t.Fatal(err)
			}
			g := make([]float64, f.N)
			loss, err := f.Gradient(g, c.truth)
			if err != nil || !(loss < 1e-20) {
				t.Errorf("loss at the truth %g, %v", loss, err)
			}
			if loss, err = f.Gradient(g, f.Start); err != nil || !(loss > 1e-6) {
				t.Errorf("loss at the start %g, %v", loss, err)
			}
			for i, x := range g {
				if x == 0 || math.IsNaN(x) {
					t.Errorf("derivative %d at the start is %g", i, x)
				}
			}
		})
	}
}

func TestParseProblemRefuses(t *testing.T) {
	for _, c := range []struct{ model, old, text, says string }{
		{"rod", `"radial"`, `"radal"`, `"options.radal": did you mean "radial"?`},
		{"rod", `"start": 5`, `"strat": 5`, `"parameters.radius.strat": did you mean "start"?`},
		{"rod", `"rod"`, `"rood"`, `did you mean "rod"?`},
		{"film", `"fixed"`, `"x": {}, "fixed"`, `unknown key "x"`},
		{"film", `"fixed": {`, `"fixed": {"x": 1, `, `unknown parameter "x"`},
		{"film", `[1, 2, 3,`, `[1, 2,`, "has 8 starting values: want 1 or 9"},
		{"film", `"order": 1`, `"order": 1000000000`, "order up to 64"},
		{"voxels", `[1, 5, 6]`, `[1, 5, 60]`, "want a box within"},
		{"voxels", `[1, 5, 6]`, `[1, 5]`, "has 2 numbers: want 3"},
		{"voxels", `[1, 5, 6]`, `[1, 5, 6, 7]`, "has 4 numbers: want 3"},
		{"rod", `"data": "x"`, `"data": "x", "geometry": {"beam": [11]}`, "geometry.beam has 1 number: want 2"},
		{"rod", `"data": "x"`, `"data": "x", "transmission": 0`, "transmission is 0: want more than 0"},
		{"voxels", `[-5, 5]`, `[5]`, "[lowest, highest]"},
		{"voxels", `[-5, 5]`, `[-5, 5], "prior": "normal(0)"`, "prior of logit"},
		{"voxels", `[-5, 5]`, `[-5, 5], "prior": "normal(100, 1)"`, "has a probability of 0 between the bounds, -5 and 5"},
		{"voxels", `[1, 10, 12]`, `[1, 4611686018427387904, 12]`, "grid.shape"},
		{"rod", `"radius": {"start": 5}`, `"radius": {}`, "rod needs the parameter radius"},
		{"rod", `"data": "x"`, `"data": ""`, "data is missing"},
		{"rod", `"data": "x"`, `"data": "x", "compare": "curve"`, `did you mean "curves"?`},
		{"rod", `"data": "x"`, `"data": "x", "mask": {"q": [2, 1]}`, "mask.q"},
		{"rod", `"data": "x"`, `"data": "x", "method": "nuts"`, "needs sigma"},
		{"rod", `"fixed": {`, `"fixed": {"radius": 1, `, "both searched and fixed"},
		{"rod", `"fixed": {`, `"fixed": {"noise": 1, `, "noise can only be a parameter of posteriors"},
		{"rod", `"fixed": {`, `"fixed": [1], "x": {`, ""},
	} {
		text := document(c.model, "")
		changed := strings.Replace(text, c.old, c.text, 1)
		if changed == text {
			t.Fatalf("%q is not in %s", c.old, text)
		}
		if _, err := morph.ParseProblem([]byte(changed)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q in it", c.text, err, c.says)
		}
	}
	for _, bad := range []string{"", "[]", "{", "null", `{"model": 3}`, `{"model": "rod", "grid": null}`} {
		if _, err := morph.ParseProblem([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func FuzzParseProblem(f *testing.F) {
	for model := range problems {
		f.Add(document(model, `, "sigma": 0.1, "loss": "log"`))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := morph.ParseProblem([]byte(text))
		if err == nil && p.Grid.Shape[0] == 0 {
			t.Error("an empty volume")
		}
	})
}
