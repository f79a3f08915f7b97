// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
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
		`Build of the model "mine" returned material 1 without Vfrac`: func(*Problem, Grid, Values) Scene {
			return Scene{Materials: []rsoxs.MaterialNodes{{}}}
		},
		`there is no parameter "fractoin" (did you mean "fraction"?): choose from those of the model "mine": fraction, scale, background, noise`: func(_ *Problem, g Grid, at Values) Scene {
			return Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: g.full(at("fractoin"))}}}
		},
		`Build of the model "mine", Penalty: `: func(_ *Problem, g Grid, at Values) Scene {
			return Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: g.full(at("fraction"))}}, Penalty: ad.Square(at("nosuch"))}
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
		`material 1 with S of the shape [3]`: func(_ *Problem, g Grid, at Values) Scene {
			return Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: g.full(at("fraction")), S: ad.Full(0.3, 3), Theta: ad.Scalar(0), Psi: ad.Scalar(0)}}}
		},
		`material 1 with some of S, Theta and Psi: give all of them`: func(_ *Problem, g Grid, at Values) Scene {
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
		`there is no parameter "dsut" (did you mean "dust"?): `:                    func(at Values, i, _ *ad.Node) *ad.Node { return ad.Add(i, at("dsut")) },
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

// A centred model that leaves the coordinates out lies in the middle of the grid.
func TestCentreThatAProblemLeavesOut(t *testing.T) {
	Register("mine", Definition{About: "a", Centred: true, Params: []Parameter{needed("radius", "radius")},
		Build: func(_ *Problem, g Grid, at Values) Scene {
			d := g.Sphere(Vec{at("x"), at("y"), at("z")}, at("radius"))
			return Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: Inside(d, g.Voxel/2)}}}
		}})
	t.Cleanup(func() { delete(problemModels, "mine") })
	scene := func(parameters, fixed string) []float64 {
		t.Helper()
		p, err := ParseProblem([]byte(`{"model": "mine", "grid": {"shape": [4, 8, 10], "voxel": 3}, "parameters": {` + parameters + `}, "fixed": {` + fixed + `}, "data": "none", "constants": ["vacuum"]}`))
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Scene([]float64{6})
		if err != nil {
			t.Fatal(err)
		}
		v, err := ad.Eval(s.Materials[0].Vfrac)
		if err != nil {
			t.Fatal(err)
		}
		return v[0].Float64s()
	}
	usual := scene(`"radius": {"start": 6}`, "")
	if given := scene(`"radius": {"start": 6}`, `"x": 13.5, "y": 10.5, "z": 4.5`); !slices.Equal(usual, given) {
		t.Error("the centre by default is not the middle of the grid")
	}
	if moved := scene(`"radius": {"start": 6}`, `"x": 12`); slices.Equal(usual, moved) {
		t.Error("a centre that is given does not count")
	}
}

// A parameter without any effect is a flag of the verdict, has an infinite standard deviation, and leaves those of the others
// as they are. It does not make a fit start again.
func TestParameterThatTheDataDoNotDetermine(t *testing.T) {
	RegisterNuisance("dust", Nuisance{About: "a", Params: []Parameter{usually("dust", 0, "a")}, Apply: func(_ Values, i, _ *ad.Node) *ad.Node { return i }})
	t.Cleanup(func() { delete(nuisances, "dust") })
	for _, method := range []string{"lm", "lbfgs"} {
		without, _ := solved(t, method, "")
		if !without.Check.OK {
			t.Fatalf("%s: %v %+v", method, without.X, without.Check.Flags)
		}
		f, restarts := solved(t, method, `, "dust": {"start": 0.5}`)
		k := slices.IndexFunc(f.Check.Flags, func(g check.Flag) bool { return g.Kind == check.KindUnknown })
		if k < 0 || f.Check.OK || f.Check.Flags[k].Text != "the data do not determine dust" || f.Check.Flags[k].Remedy == "" {
			t.Errorf("%s: no flag for dust: %+v", method, f.Check.Flags)
		}
		if !math.IsInf(f.SD[2], 1) || len(f.Warnings) != 1 || restarts > 0 {
			t.Errorf("%s: standard deviations %v, warnings %q, %d restarts", method, f.SD, f.Warnings, restarts)
		}
		for i, sd := range without.SD {
			if !(math.Abs(f.SD[i]-sd) < 1e-3*sd) {
				t.Errorf("%s: standard deviation %d is %g, and %g without dust", method, i, f.SD[i], sd)
			}
		}
	}
}

// solved fits a ball on a background, and counts restarts.
func solved(t *testing.T, method, more string) (f *Solution, restarts int) {
	t.Helper()
	t.Run("", func(t *testing.T) {
		v, err := trial(t, ball, `"fraction": {"start": 0.5, "bounds": [0.01, 0.99]}, "background": {"start": 1e-6}`+more)
		if err != nil {
			t.Fatal(err)
		}
		v.Loss, v.Sigma = SquareLoss, 2e-8
		l, err := v.linear()
		if err != nil {
			t.Fatal(err)
		}
		r := make([]float64, len(l.data))
		if err := l.residuals(r, []float64{0.4, 2e-6, 0.1}[:len(v.Params)]); err != nil {
			t.Fatal(err)
		}
		src := tensor.NewStream(1, 1, 1)
		for i, at := range l.index {
			v.Data.Float64s()[at] += v.Sigma * (r[i] + src.Normal())
		}
		task := &Task{Problem: &Problem{Sigma: v.Sigma}, Inversion: v, Method: method}
		if f, err = task.Fit(t.Context(), FitSettings{Restarting: func(int, int) { restarts++ }}); err != nil {
			t.Fatal(err)
		}
	})
	return f, restarts
}

func ball(_ *Problem, g Grid, at Values) Scene {
	d := g.Sphere(Vec{ad.Scalar(10), ad.Scalar(11), ad.Scalar(2)}, ad.Scalar(6))
	return Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: ad.Mul(Inside(d, g.Voxel/2), at("fraction"))}}}
}
