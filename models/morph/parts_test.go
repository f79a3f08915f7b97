// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// trial is a problem of a model called mine, its measurement and its inversion.
func trial(t *testing.T, build func(p *Problem, g Grid, at Values) Scene, parameters string) (*Inversion, error) {
	t.Helper()
	Register("mine", Definition{About: "a", Params: []Parameter{needed("fraction", "volume fraction")}, Build: build})
	t.Cleanup(func() { delete(problemModels, "mine") })
	p, err := ParseProblem([]byte(`{"model": "mine", "grid": {"shape": [2, 8, 8], "voxel": 3}, "parameters": {` + parameters + `}, "data": "none", "constants": ["vacuum"]}`))
	if err != nil {
		t.Fatal(err)
	}
	c := rsoxs.Constants{DeltaPara: 1e-3, BetaPara: 1e-3, DeltaPerp: 1e-3, BetaPerp: 1e-3}
	data := tensor.New(tensor.Float64, 1, 1, 8, 8)
	for i := range data.Float64s() {
		data.Float64s()[i] = 1e-3
	}
	return p.Inversion(Measurement{Config: rsoxs.Config{Energies: []float64{284}}, Optics: rsoxs.Optics{{c}}, Data: data})
}

func uniform(_ *Problem, g Grid, at Values) Scene {
	return Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: g.full(at("fraction"))}}}
}

// Materials that do not fit the grid are errors that name the model.
func TestMaterialsThatDoNotFit(t *testing.T) {
	for want, build := range map[string]func(p *Problem, g Grid, at Values) Scene{
		`Build of the model "mine" returned material 1 without Vfrac`: func(_ *Problem, _ Grid, at Values) Scene {
			return Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: at("nosuch")}}}
		},
		`Build of the model "mine" returned material 1 with Vfrac of the shape []: want [2 8 8]`: func(_ *Problem, _ Grid, at Values) Scene {
			return Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: at("fraction")}}}
		},
		`Build of the model "mine" returned a scene without Materials: want at least one`: func(_ *Problem, _ Grid, at Values) Scene {
			return Scene{}
		},
		`Build of the model "mine" returned a Penalty of the shape [2 8 8]: want a scalar`: func(_ *Problem, g Grid, at Values) Scene {
			return Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: g.full(at("fraction"))}}, Penalty: g.full(at("fraction"))}
		},
		`material 1 with S of the shape []`: func(_ *Problem, g Grid, at Values) Scene {
			return Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: g.full(at("fraction")), S: ad.Scalar(0.3)}}}
		},
		"with the volume fraction NaN in voxel (0, 0, 0) at the starting values": func(_ *Problem, g Grid, at Values) Scene {
			return Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: g.full(ad.Scale(math.NaN(), at("fraction")))}}}
		},
		`Build of the model "mine", Vfrac of material 1: `: func(_ *Problem, g Grid, at Values) Scene {
			return Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: ad.Add(g.full(at("fraction")), ad.Const([]float64{1, 2, 3}))}}}
		},
	} {
		t.Run("", func(t *testing.T) {
			if _, err := trial(t, build, `"fraction": {"start": 0.5}`); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("want %q: %v", want, err)
			}
		})
	}
}

// A nuisance that returns something else than intensities is an error that names it.
func TestNuisancesThatDoNotFit(t *testing.T) {
	for want, apply := range map[string]func(at Values, i, q *ad.Node) *ad.Node{
		`Apply of the nuisance "dust" returned nil: want intensities of the shape`: func(Values, *ad.Node, *ad.Node) *ad.Node { return nil },
		`Apply of the nuisance "dust" returned the shape []`:                       func(_ Values, i, _ *ad.Node) *ad.Node { return ad.Sum(i) },
		`Apply of the nuisance "dust": `:                                           func(at Values, i, _ *ad.Node) *ad.Node { return ad.Add(i, at("nosuch")) },
	} {
		t.Run("", func(t *testing.T) {
			RegisterNuisance("dust", Nuisance{About: "a", Params: []Parameter{usually("dust", 0, "a")}, Apply: apply})
			t.Cleanup(func() { delete(nuisances, "dust") })
			v, err := trial(t, uniform, `"fraction": {"start": 0.5}, "dust": {"start": 0.1}`)
			if err == nil {
				_, err = v.Information([]float64{0.5, 0.1})
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("want %q: %v", want, err)
			}
		})
	}
}

// Without a Problem, a scene of NaN is not taken for a mask.
func TestSceneOfNaN(t *testing.T) {
	v, err := trial(t, uniform, `"fraction": {"start": 0.5}`)
	if err != nil {
		t.Fatal(err)
	}
	g := Grid{Shape: [3]int{2, 8, 8}, Voxel: 3}
	v.Build = func(p []*ad.Node) Scene {
		return Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: g.full(ad.Scale(math.NaN(), p[0]))}}}
	}
	if _, err := v.prepare(); err == nil || !strings.Contains(err.Error(), "every simulated intensity is NaN at the starting values") {
		t.Error(err)
	}
}
