// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph_test

import (
	"context"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// family is a parametrised scene with parameters that make sense.
type family struct {
	name  string
	grid  morph.Grid
	start []float64
	build func(g morph.Grid, p []*ad.Node) morph.Scene
}

// films has the coefficients of a film as two parameters.
const filmModes = 9

var families = []family{
	{"core-shell with decay", morph.Grid{Shape: [3]int{8, 14, 12}, Voxel: 2.5}, []float64{5, 6, 0.5, 0.4, 15.3}, func(g morph.Grid, p []*ad.Node) morph.Scene {
		return morph.CoreShell{Grid: g, Centre: morph.Vec{p[4], ad.Scalar(16.1), ad.Scalar(9.3)}, Radius: p[0], Shell: p[1], Aligned: p[2], Decay: p[3], Matrix: true}.Scene()
	}},
	{"rod", morph.Grid{Shape: [3]int{8, 14, 12}, Voxel: 2.5}, []float64{0.7, 0.3, 7, 22, 3, 0.6}, func(g morph.Grid, p []*ad.Node) morph.Scene {
		return morph.Rod{Grid: g, Centre: morph.Fixed(14.2, 16.9, 9.4), Theta: p[0], Phi: p[1], Radius: p[2], Length: p[3], Hole: p[4], Aligned: p[5]}.Scene()
	}},
	{"radial rod", morph.Grid{Shape: [3]int{6, 14, 12}, Voxel: 2.5}, []float64{1.2, 0.3, 7, 0.6}, func(g morph.Grid, p []*ad.Node) morph.Scene {
		return morph.Rod{Grid: g, Centre: morph.Fixed(14.2, 16.9, 7.4), Theta: p[0], Phi: p[1], Radius: p[2], Aligned: p[3], Radial: true, Matrix: true}.Scene()
	}},
	{"lamella", morph.Grid{Shape: [3]int{6, 14, 12}, Voxel: 2.5}, []float64{1.1, 0.4, 11, 6, 0.2, 0.7}, func(g morph.Grid, p []*ad.Node) morph.Scene {
		return morph.Lamella{Grid: g, Centre: morph.Fixed(1.3, 0.7, 0.4), Theta: p[0], Phi: p[1], Period: p[2], Thickness: p[3], Tilt: p[4], Aligned: p[5]}.Scene()
	}},
	{"film", morph.Grid{Shape: [3]int{1, 14, 12}, Voxel: 4}, filmStart(), func(g morph.Grid, p []*ad.Node) morph.Scene {
		return morph.Film{Grid: g, Order: 1, Composition: ad.Stack(0, p[:filmModes]...), Director: ad.Stack(0, p[filmModes:2*filmModes]...), Aligned: p[2*filmModes], Matrix: true}.Scene()
	}},
}

func filmStart() (v []float64) {
	rng := tensor.NewStream(4, 0, 0)
	for range 2 * filmModes {
		v = append(v, 0.6*rng.Normal())
	}
	return append(v, 0.6)
}

func (f *family) optics(energies []float64) (o rsoxs.Optics) {
	materials := len(f.build(f.grid, scalars(f.start)).Materials)
	for e := range energies {
		row := []rsoxs.Constants{}
		for m := range materials {
			row = append(row, rsoxs.Constants{DeltaPara: 1e-3 * float64(m+1), BetaPara: 2e-3 / float64(e+1), DeltaPerp: -1e-3 * float64(e+m), BetaPerp: 1e-3})
		}
		o = append(o, row)
	}
	return o
}

func scalars(v []float64) (p []*ad.Node) {
	for _, x := range v {
		p = append(p, ad.Scalar(x))
	}
	return p
}

func (f *family) inversion(t *testing.T) *morph.Inversion {
	energies := []float64{281, 285.1}
	sim, err := rsoxs.New(f.grid.Shape, f.grid.Voxel, rsoxs.Config{Energies: energies, Angles: rsoxs.Angles{Start: 10, Increment: 40, End: 130}, RotMask: true})
	if err != nil {
		t.Fatal(err)
	}
	v := &morph.Inversion{Sim: sim, Optics: f.optics(energies), Build: func(p []*ad.Node) morph.Scene { return f.build(f.grid, p) }}
	for i, x := range f.start {
		v.Params = append(v.Params, morph.Param{Name: string(rune('a' + i)), Start: []float64{x}})
	}
	v.Data = f.pattern(t, v, f.start).Intensity
	return v
}

func (f *family) pattern(t *testing.T, v *morph.Inversion, x []float64) *rsoxs.Pattern {
	m, err := f.build(f.grid, scalars(x)).Morphology(f.grid.Voxel)
	if err != nil {
		t.Fatal(err)
	}
	s := v.Sim.Clone()
	if err := s.Transform(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	p, err := s.Pattern(context.Background(), v.Optics)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// moved returns the parameters a little away.
func moved(x []float64) []float64 {
	out := append([]float64(nil), x...)
	for i := range out {
		out[i] *= 1 + 0.01*float64(i%3+1)
	}
	return out
}

// Gradients of the loss and Jacobians of the residuals agree with differences, for
// every family, loss and way to compare.
func TestDerivativesOfFamilies(t *testing.T) {
	for _, f := range families {
		for _, loss := range []morph.Loss{morph.LogLoss, morph.SquareLoss, morph.PoissonLoss} {
			v := f.inversion(t)
			v.Loss = loss
			if loss != morph.LogLoss { // intensities in units that make numbers of about 1
				data := v.Data.Data().([]float64)
				top := largest(data)
				for i := range data {
					data[i] *= 100 / top
				}
				build := v.Build
				v.Build = func(p []*ad.Node) morph.Scene {
					s := build(p)
					s.Scale, s.Background = ad.Scalar(100/top), ad.Scalar(0.3)
					return s
				}
			}
			checkDerivatives(t, f.name, v, moved(f.start))
		}
		v := f.inversion(t)
		v.Curves = f.curves(t, v)
		v.Data = nil
		checkDerivatives(t, f.name+" by curves", v, moved(f.start))
	}
}

func largest(v []float64) (top float64) {
	for _, x := range v {
		if x > top {
			top = x
		}
	}
	return top
}

func (f *family) curves(t *testing.T, v *morph.Inversion) *morph.CurveData {
	c := &morph.CurveData{Reduction: rsoxs.Reduction{Wedge: 60}, AWeight: 3}
	p := f.pattern(t, v, f.start)
	r, err := c.Reduction.NewReducer(p)
	if err != nil {
		t.Fatal(err)
	}
	curves, err := r.Reduce(p)
	if err != nil {
		t.Fatal(err)
	}
	c.I, c.A = curves.I, curves.A
	return c
}

func checkDerivatives(t *testing.T, name string, v *morph.Inversion, x []float64) {
	t.Helper()
	f, err := v.Function()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	g := make([]float64, f.N)
	if _, err := f.Gradient(g, x); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	p, err := v.Problem()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	j, up, down := make([]float64, p.M*p.N), make([]float64, p.M), make([]float64, p.M)
	if err := p.Jacobian(j, x); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	room := make([]float64, f.N)
	for k := range x {
		h := 1e-5 * math.Max(math.Abs(x[k]), 0.1)
		y := append([]float64(nil), x...)
		y[k] = x[k] + h
		a, _ := f.Gradient(room, y)
		p.Residual(up, y)
		y[k] = x[k] - h
		b, _ := f.Gradient(room, y)
		p.Residual(down, y)
		if fd := (a - b) / (2 * h); !(math.Abs(fd-g[k]) <= 2e-5*math.Max(math.Abs(fd), 1e-2*norm(g))+1e-9) {
			t.Errorf("%s: derivative %d of the loss is %.10g, differences say %.10g", name, k, g[k], fd)
		}
		column := j[k*p.M : (k+1)*p.M]
		top := norm(column)
		for i := range column {
			if fd := (up[i] - down[i]) / (2 * h); !(math.Abs(fd-column[i]) <= 1e-4*top+1e-8) {
				t.Errorf("%s: residual %d by parameter %d is %.10g, differences say %.10g", name, i, k, column[i], fd)
				break
			}
		}
	}
}

func norm(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x * x
	}
	return math.Sqrt(s)
}

// Scale and background are found with the shape, from curves too.
func TestNuisance(t *testing.T) {
	f := families[0]
	v := f.inversion(t)
	build := v.Build
	v.Build = func(p []*ad.Node) morph.Scene {
		s := build(p)
		s.Scale, s.Background = ad.Exp(p[5]), ad.Exp(p[6])
		return s
	}
	data := v.Data.Data().([]float64)
	b := 1e-4 * largest(data)
	for i := range data {
		data[i] = 7*data[i] + b
	}
	v.Params = append(v.Params, morph.Param{Name: "log_scale", Start: []float64{1}}, morph.Param{Name: "log_background", Start: []float64{math.Log(b) + 1}})
	for i, x := range moved(f.start) {
		v.Params[i].Start = []float64{x}
	}
	r, err := v.Fit(context.Background(), optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "nuisance", r.X, append(append([]float64{}, f.start...), math.Log(7), math.Log(b)), 1e-6)
}

// A model with a prior and an inferred error is sampled and says so.
func TestPosteriorWithSigma(t *testing.T) {
	f := families[3]
	v := f.inversion(t)
	rng := tensor.NewStream(8, 0, 0)
	data := v.Data.Data().([]float64)
	for i := range data {
		data[i] *= math.Exp(0.05 * rng.Normal())
	}
	v.Params, v.Build = nil, func(p []*ad.Node) morph.Scene {
		s := f.build(f.grid, append(append([]*ad.Node{}, scalars(f.start[:2])...), p[0], p[1], ad.Scalar(f.start[4]), ad.Scalar(f.start[5])))
		s.Sigma = p[2]
		return s
	}
	period, thickness, sigma := dist.Normal(11, 1), dist.LogNormal(1.8, 0.5), dist.HalfNormal(0.5)
	v.Params = []morph.Param{{Name: "period", Start: []float64{11}, Prior: &period}, {Name: "thickness", Start: []float64{6}, Prior: &thickness},
		{Name: "sigma", Start: []float64{0.1}, Prior: &sigma}}
	fit, err := v.Sample(context.Background(), infer.Settings{Seed: 3, Chains: 2, Warmup: tier.Of(60, 150), Draws: tier.Of(40, 100), Init: [][]float64{{11, 1.8, -3}, {11, 1.8, -3}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"period": 11, "thickness": 6, "sigma": 0.05} {
		r := fit.Summary().Row(name)
		if math.Abs(r.Mean-want) > 5*r.SD || r.RHat > tier.Of(1.2, 1.05) {
			t.Errorf("%s: %v +- %v, R-hat %v, want %v", name, r.Mean, r.SD, r.RHat, want)
		}
	}
}

func TestPenalties(t *testing.T) {
	x := ad.Const([]float64{0, 1, 1, 3}, 2, 2)
	v, err := ad.Eval(morph.Roughness(x), morph.TotalVariation(x))
	if err != nil {
		t.Fatal(err)
	}
	if got := v[0].Float64s()[0]; got != 1+1+4+4 {
		t.Errorf("roughness %v, want 10", got)
	}
	if got := v[1].Float64s()[0]; math.Abs(got-6) > 0.01 {
		t.Errorf("total variation %v, want about 6", got)
	}
}

// What cannot be compared is refused with what is wrong.
func TestRefusals(t *testing.T) {
	good := families[4].inversion(t)
	for want, change := range map[string]func(v *morph.Inversion){
		"either Data or Curves":           func(v *morph.Inversion) { v.Data = nil },
		"Sim, Params or Build is missing": func(v *morph.Inversion) { v.Sim = nil },
		"bounds":                          func(v *morph.Inversion) { v.Params[0].Bounds = []float64{1} },
		"no pixel":                        func(v *morph.Inversion) { v.Mask = tensor.New(tensor.Float64, v.Data.Shape()...) },
		"the data have shape":             func(v *morph.Inversion) { v.Data = tensor.New(tensor.Float64, 3) },
		"only be compared by LogLoss": func(v *morph.Inversion) {
			v.Data, v.Curves, v.Loss = nil, &morph.CurveData{I: v.Data}, morph.SquareLoss
		},
		"the constants have shape": func(v *morph.Inversion) { v.Optics = v.Optics[:1] },
		"not a sum of squares":     func(v *morph.Inversion) { penalize(v) },
		"neither I nor A":          func(v *morph.Inversion) { v.Data, v.Curves = nil, &morph.CurveData{} },
	} {
		v := *good
		v.Params = append([]morph.Param{}, good.Params...)
		change(&v)
		_, err := v.Problem()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func penalize(v *morph.Inversion) {
	build := v.Build
	v.Build = func(p []*ad.Node) morph.Scene {
		s := build(p)
		s.Penalty = ad.Square(p[0])
		return s
	}
}
