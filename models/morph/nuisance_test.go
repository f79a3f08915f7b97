// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph_test

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

func init() {
	morph.RegisterNuisance("haze", morph.Nuisance{
		About:  "air scattering falls exponentially with q",
		Params: []morph.Parameter{{Name: "haze", Default: new(0.0)}, {Name: "haze_length", Default: new(2.0)}},
		Apply: func(at morph.Values, intensity, q *ad.Node) *ad.Node {
			return ad.Add(intensity, ad.Mul(at("haze"), ad.Exp(ad.Neg(ad.Mul(at("haze_length"), q)))))
		},
	})
}

// hazy is an inversion of a particle in haze, by images or curves, and the predicted pattern.
func hazy(t *testing.T, compare string) (*morph.Task, *rsoxs.Pattern) {
	t.Helper()
	p, err := morph.ParseProblem([]byte(`{"model": "core_shell", "grid": {"shape": [4, 12, 14], "voxel": 3},
		"parameters": {"radius": {"start": 8}, "haze": {"start": 2e-6}}, "fixed": {"shell": 5, "aligned": 0.3, "scale": 2},
		"compare": "` + compare + `", "data": "none", "constants": ["vacuum", "vacuum"]}`))
	if err != nil {
		t.Fatal(err)
	}
	sim, err := rsoxs.New(p.Grid.Shape, p.Grid.Voxel, rsoxs.Config{Energies: []float64{284, 286}})
	if err != nil {
		t.Fatal(err)
	}
	o := rsoxs.Optics{}
	for _, d := range []float64{1e-3, 2e-3} {
		o = append(o, []rsoxs.Constants{{DeltaPara: d, BetaPara: 1e-3, DeltaPerp: 5e-4, BetaPerp: 2e-4}, {DeltaPara: 5e-4, BetaPara: 4e-4, DeltaPerp: 9e-4, BetaPerp: d}})
	}
	v := &morph.Inversion{Sim: sim, Optics: o, Params: []morph.Param{{Name: "haze", Start: []float64{2e-6}}, {Name: "radius", Start: []float64{8}}},
		Build: func(n []*ad.Node) morph.Scene {
			s, err := p.Scene([]float64{8, 2e-6})
			if err != nil {
				t.Fatal(err)
			}
			s.Response = func(intensity, q *ad.Node) *ad.Node {
				return ad.Add(intensity, ad.Mul(n[0], ad.Exp(ad.Scale(-2, q))))
			}
			s.Scale = ad.Add(ad.Scalar(1), ad.Scale(0.125, n[1]))
			return s
		}}
	task := &morph.Task{Problem: p, Inversion: v}
	// What the problem itself builds: haze of the nuisance, with its default length, and the scale.
	scene, err := p.Scene([]float64{8, 2e-6}) // radius, haze
	if err != nil {
		t.Fatal(err)
	}
	task.Inversion = &morph.Inversion{Sim: sim, Optics: o, Params: v.Params, Build: func([]*ad.Node) morph.Scene { return scene }}
	_, pattern, err := task.Predict(t.Context(), []float64{2e-6, 8})
	if err != nil {
		t.Fatal(err)
	}
	task.Inversion = v
	return task, pattern
}

func TestNuisanceOfAProblem(t *testing.T) {
	task, pattern := hazy(t, "images")
	bare := *task.Problem
	bare.Parameters = map[string]morph.ProblemParam{"radius": {Start: []float64{8}}}
	scene, err := bare.Scene([]float64{8})
	if err != nil {
		t.Fatal(err)
	}
	if scene.Response != nil {
		t.Error("a problem that names no parameter of a nuisance has one")
	}
	v := *task.Inversion
	v.Build = func([]*ad.Node) morph.Scene { return scene }
	v.Params = v.Params[1:]
	_, without, err := (&morph.Task{Problem: &bare, Inversion: &v}).Predict(t.Context(), []float64{8})
	if err != nil {
		t.Fatal(err)
	}
	for e := range pattern.Energies {
		got, clear := pattern.Image(e, 0), without.Image(e, 0)
		for i := range got {
			q := math.Hypot(pattern.QY[i/len(pattern.QX)], pattern.QX[i%len(pattern.QX)])
			want := clear[i] + 2*2e-6*math.Exp(-2*q)
			if !(math.Abs(got[i]-want) <= 1e-12*math.Abs(want)) && want == want {
				t.Fatalf("energy %d, pixel %d: %g, want %g", e, i, got[i], want)
			}
		}
	}
	if text := morph.ProblemModels(); !strings.Contains(text, "haze, a nuisance that every model can have: air scattering") {
		t.Error(text)
	}
}

// The gradient of the loss goes through a nuisance, for images and curves.
func TestGradientThroughANuisance(t *testing.T) {
	for _, compare := range []string{"images", "curves"} {
		task, pattern := hazy(t, compare)
		v := task.Inversion
		if v.Data = pattern.Intensity; compare == "curves" {
			r := rsoxs.Reduction{}
			d, err := r.NewReducer(pattern)
			if err != nil {
				t.Fatal(err)
			}
			c, err := d.Reduce(pattern)
			if err != nil {
				t.Fatal(err)
			}
			v.Data, v.Curves = nil, &morph.CurveData{Reduction: r, I: c.I}
		}
		f, err := v.Function()
		if err != nil {
			t.Fatal(err)
		}
		at, g, rest := []float64{1e-6, 9}, make([]float64, 2), make([]float64, 2)
		if _, err := f.Gradient(g, at); err != nil {
			t.Fatal(err)
		}
		for k := range at {
			h := 1e-4 * at[k]
			var ends [2]float64
			for j, s := range []float64{-h, h} {
				x := []float64{at[0], at[1]}
				x[k] += s
				if ends[j], err = f.Gradient(rest, x); err != nil {
					t.Fatal(err)
				}
			}
			if d := (ends[1] - ends[0]) / (2 * h); math.Abs(g[k]-d) > 1e-5*math.Abs(d) || d == 0 {
				t.Errorf("%s: parameter %d: gradient %g, difference %g", compare, k, g[k], d)
			}
		}
	}
}

func TestNuisancesThatAreRefused(t *testing.T) {
	whole := morph.Nuisance{About: "nothing", Params: []morph.Parameter{{Name: "nothing", Default: new(0.0)}}, Apply: func(_ morph.Values, i, _ *ad.Node) *ad.Node { return i }}
	for why, change := range map[string]func(*morph.Nuisance) string{
		"incomplete: set Apply": func(n *morph.Nuisance) string { n.Apply = nil; return "other" },
		"exists already":        func(*morph.Nuisance) string { return "haze" },
		"has no Default":        func(n *morph.Nuisance) string { n.Params = []morph.Parameter{{Name: "x0"}}; return "other" },
		`the nuisance "other" and the model "core_shell" both have a parameter "radius"`: func(n *morph.Nuisance) string {
			n.Params = []morph.Parameter{{Name: "radius", Default: new(0.0)}}
			return "other"
		},
		"cannot be called \"a b\"": func(*morph.Nuisance) string { return "a b" },
		`the nuisances "haze" and "other" both have a parameter "haze"`: func(n *morph.Nuisance) string {
			n.Params = []morph.Parameter{{Name: "haze", Default: new(0.0)}}
			return "other"
		},
	} {
		n := whole
		name := change(&n)
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, why) {
					t.Errorf("%q: want %q", said, why)
				}
			}()
			morph.RegisterNuisance(name, n)
		}()
	}
}

func TestModelsThatAreRefused(t *testing.T) {
	for why, change := range map[string]func(d *morph.Definition, q *morph.Parameter) string{
		"incomplete: set About, Build":                                      func(d *morph.Definition, q *morph.Parameter) string { d.About, d.Build = "", nil; return "other" },
		`a model cannot be called "a\nb"`:                                   func(*morph.Definition, *morph.Parameter) string { return "a\nb" },
		`there already is a model "rod"`:                                    func(*morph.Definition, *morph.Parameter) string { return "rod" },
		`has a parameter called "lp__"`:                                     func(d *morph.Definition, q *morph.Parameter) string { q.Name = "lp__"; return "other" },
		`has a parameter called "r\n"`:                                      func(d *morph.Definition, q *morph.Parameter) string { q.Name = "r\n"; return "other" },
		`has the parameter "r" twice`:                                       func(d *morph.Definition, q *morph.Parameter) string { d.Params = append(d.Params, *q); return "other" },
		`lists the parameter "scale", which every model has already: leave`: func(d *morph.Definition, q *morph.Parameter) string { q.Name = "scale"; return "other" },
		`lists the parameter "y", which every model with Centred has already: leave`: func(d *morph.Definition, q *morph.Parameter) string {
			q.Name, d.Centred = "y", true
			return "other"
		},
		`the nuisance "haze" and the model "other" both have`: func(d *morph.Definition, q *morph.Parameter) string { q.Name = "haze"; return "other" },
		`"r" of the model "other" has the Limits 2 to 1`:      func(d *morph.Definition, q *morph.Parameter) string { q.Limits = &[2]float64{2, 1}; return "other" },
		"has the Default 5, which is outside its Limits 0 to 1": func(d *morph.Definition, q *morph.Parameter) string {
			q.Default, q.Limits = new(5.0), &[2]float64{0, 1}
			return "other"
		},
	} {
		d := morph.Definition{About: "a", Params: []morph.Parameter{{Name: "r", About: "r", Needed: true}},
			Build: func(*morph.Problem, morph.Grid, morph.Values) morph.Scene { return morph.Scene{} }}
		name := change(&d, &d.Params[0])
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, why) {
					t.Errorf("%q: want %q", said, why)
				}
			}()
			morph.Register(name, d)
		}()
	}
}
