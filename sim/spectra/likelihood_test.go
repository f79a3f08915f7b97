// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/templates"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// The kinds of mock stars.
const (
	plain     = "one spectrum in each arm"
	exposures = "several exposures"
	resolved  = "resolution matrices"
)

// kindOf returns the kind of a mock star.
func kindOf(t testing.TB, mock string) string {
	t.Helper()
	switch f := templates.MockSpectra(t, mock); {
	case f[0].Resolution != "":
		return resolved
	case f[0].Exposure != "":
		return exposures
	}
	return plain
}

// firstCase returns the first case of a kind of mock star and an interpolator that has a Hessian.
func firstCase(t testing.TB, kind, interpolator string) chainCase {
	t.Helper()
	for _, c := range chainCases(t) {
		if c.Interpolator == interpolator && c.Hess != nil && kindOf(t, c.Mock) == kind {
			return c
		}
	}
	t.Skipf("the reference has no case of a star with %s and %s", kind, interpolator)
	return chainCase{}
}

func TestVelocityScanGolden(t *testing.T) {
	var f struct {
		Mock, Interpolator string

		NPoly int
		VSini float64
		Atm   []float64
		Vel   []float64 `json:"vel_grid"`
		ChiSq []float64
	}
	golden.JSON(t, &f, "spectra", "chain/velscan.json")
	b := len(f.Vel)
	c := chainCase{Mock: f.Mock, Interpolator: f.Interpolator, NPoly: f.NPoly, RBF: true, Params: slices.Concat([]float64{0, f.VSini}, f.Atm)}
	// The explicit axis of stars, and the batch axis of the compiler.
	g := buildChain(t, c, b, nil)
	p, err := ad.Compile([]*ad.Node{g.like.ChiSquare}, ad.Settings{Inputs: g.params()})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	copy(s.Input(0), f.Vel)
	for i := range b {
		s.Input(1)[i] = f.VSini
		copy(s.Input(2)[4*i:], f.Atm)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	near(t, "stars", s.Output(0), f.ChiSq, 1e-9)
	// A scan: one template for all velocities.
	c.scan = b
	g = buildChain(t, c, 0, nil)
	if p, err = ad.Compile([]*ad.Node{g.like.ChiSquare}, ad.Settings{Inputs: g.params()}); err != nil {
		t.Fatal(err)
	}
	s = p.NewState()
	copy(s.Input(0), f.Vel)
	s.Input(1)[0] = f.VSini
	copy(s.Input(2), f.Atm)
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	near(t, "scan", s.Output(0), f.ChiSq, 1e-9)
	c.scan = 0
	one := buildChain(t, c, 0, nil)
	p, err = ad.Compile([]*ad.Node{one.like.ChiSquare}, ad.Settings{Inputs: one.params(), Batch: b, Batched: one.params()[:1]})
	if err != nil {
		t.Fatal(err)
	}
	s = p.NewState()
	copy(s.Input(0), f.Vel)
	s.Input(1)[0] = f.VSini
	copy(s.Input(2), f.Atm)
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	near(t, "batch", s.Output(0), f.ChiSq, 1e-9)
}

func TestModelGolden(t *testing.T) {
	for _, interpolator := range []string{"grid", "nn"} {
		c := firstCase(t, plain, interpolator)
		g := buildChain(t, c, 0, nil)
		files := templates.MockSpectra(t, c.Mock)
		for i, s := range g.like.Spectra {
			file := "chain/" + c.Mock + "_" + interpolator + "_templ_" + files[i].Arm + ".npy"
			if !golden.Has(t, "spectra", file) {
				t.Skipf("the reference has no template %s", file)
			}
			want, _ := npy(t, file)
			p, err := ad.Compile([]*ad.Node{s.Model}, ad.Settings{Inputs: g.params()})
			if err != nil {
				t.Fatal(err)
			}
			st := p.NewState()
			g.set(t, st, c.Params)
			if err := st.Run(); err != nil {
				t.Fatal(err)
			}
			tol := 1e-11
			if interpolator == "nn" {
				tol = 2e-5 // the reference's network is float32
			}
			near(t, interpolator+" "+files[i].Arm, st.Output(0), want, tol)
		}
	}
}

// In float32, chi-square is within 1e-5 of the true chi-square, and derivatives are good for errors of 1 %.
func TestChainInFloat32(t *testing.T) {
	worst := 0.0
	for i, c := range chainCases(t) {
		if c.Hess == nil || c.Interpolator != "nn" || i%4 != 0 {
			continue
		}
		g := buildChain(t, c, 1, nil)
		gradient, hessian := g.like.GaussNewton(g.params()...)
		outs := []*ad.Node{g.like.ChiSquare, gradient, hessian}
		for _, s := range g.like.Spectra {
			outs = append(outs, s.Marginal, s.MarginalRest, s.LogErr)
		}
		var got [2][][]float64
		for k, bits := range []int{64, 32} {
			p, err := ad.Compile(outs, ad.Settings{Inputs: g.params(), Precision: bits})
			if err != nil {
				t.Fatal(err)
			}
			s := p.NewState()
			g.set(t, s, c.Params)
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			for o := range outs {
				got[k] = append(got[k], s.OutputFloat64(o))
			}
		}
		pixels := 0.0
		for _, v := range c.RefArray {
			pixels += v
		}
		sum, exact := 0.0, 0.0
		for o := 3; o < len(outs); o += 3 {
			sum += got[1][o][0] + got[1][o+1][0]
			exact += got[0][o][0]
			if rest := got[0][o+1][0]; rest != 0 {
				t.Errorf("in float64 there is a rest of %g", rest)
			}
		}
		rel := math.Abs(sum-exact) / pixels
		worst = max(worst, rel)
		if rel > 1e-5 {
			t.Errorf("%s: chi-square is off by %g, %.2g of the true one", c.Mock, sum-exact, rel)
		}
		near(t, c.Mock+" Gauss-Newton", got[1][2], got[0][2], 1e-3)
		for k := range 6 { // in units of the square root of the diagonal
			sigma := math.Sqrt(got[0][2][7*k])
			if d := math.Abs(got[1][1][k]-got[0][1][k]) / sigma; d > 0.02 {
				t.Errorf("%s: gradient %d is off by %g standard deviations", c.Mock, k, d)
			}
		}
	}
	t.Logf("chi-square in float32 is off by at most %.2g of the true one", worst)
}

// The gradient of GaussNewton is that of ChiSquare, and its matrix that of the model with the continuum projected out.
func TestGaussNewton(t *testing.T) {
	for _, kind := range []string{plain, exposures, resolved} {
		c := firstCase(t, kind, "nn")
		for _, stars := range []int{0, 2} {
			g := buildChain(t, c, stars, nil)
			params := g.params()
			gradient, hessian := g.like.GaussNewton(params...)
			outs := append([]*ad.Node{gradient, hessian}, ad.Grad(g.like.ChiSquare, params...)...)
			for _, s := range g.like.Spectra {
				outs = append(outs, s.Residuals)
			}
			p, err := ad.Compile(outs, ad.Settings{Inputs: params})
			if err != nil {
				t.Fatal(err)
			}
			s := p.NewState()
			run := func(at []float64) {
				n := max(1, stars)
				for i := range n {
					s.Input(0)[i], s.Input(1)[i] = at[0], at[1]
					copy(s.Input(2)[4*i:], at[2:])
				}
				if err := s.Run(); err != nil {
					t.Fatal(err)
				}
			}
			run(c.Params)
			want := slices.Concat(s.Output(2)[:1], s.Output(3)[:1], s.Output(4)[:4])
			near(t, "gradient", s.Output(0)[:6], want, 1e-10)
			got := s.OutputFloat64(1)[:36]
			// The derivative of the residuals after the continuum is fitted is J_perp and a part that is proportional to
			// them (Kaufman leaves it out); at fixed continuum's functions both are found by differences.
			var columns [6][]float64
			for j := range 6 {
				h := []float64{1e-3, 1e-3, 0.1, 1e-4, 1e-4, 1e-4}[j]
				side := func(h float64) (r []float64) {
					at := slices.Clone(c.Params)
					at[j] += h
					run(at)
					for o := range g.like.Spectra {
						out := s.OutputFloat64(5 + o)
						r = append(r, out[:len(out)/max(1, stars)]...)
					}
					return r
				}
				up, down := side(h), side(-h)
				for k := range up {
					columns[j] = append(columns[j], (up[k]-down[k])/(2*h))
				}
			}
			for i := range 6 {
				for j := range 6 {
					dot := 0.0
					for k := range columns[i] {
						dot += columns[i][k] * columns[j][k]
					}
					scale := math.Sqrt(got[7*i] * got[7*j])
					if d := math.Abs(2*dot-got[6*i+j]) / scale; d > 0.05 {
						t.Errorf("%s, element (%d, %d) is %g, full variable projection gives %g", kind, i, j, got[6*i+j], 2*dot)
					}
				}
			}
		}
	}
}

// Penalties outside of the library, and spectra that are skipped there, without NaN in the other stars or in gradients.
func TestOutsideOfTheLibrary(t *testing.T) {
	lam := logGrid(4990, 1e-4, 120)
	obs := make([]float64, 60)
	for i := range obs {
		obs[i] = 5000 + 0.8*float64(i)
	}
	arm, err := spectra.NewArm(spectra.ArmSettings{Template: lam, Observed: obs, Continuum: 3, MinVel: -100, MaxVel: 100})
	if err != nil {
		t.Fatal(err)
	}
	const b = 6
	far := []float64{0, 0.5, math.NaN(), math.Inf(1), 0.5, 0}
	template := make([]float64, b*len(lam))
	for i := range template {
		template[i] = 0.1 * math.Sin(float64(i)/7)
	}
	template[4*len(lam)+30] = 400 // above 1e100, outside
	template[1*len(lam)+1] = 200  // below 1e100, beyond what the pixels read
	flux, e := make([]float64, b*60), make([]float64, b*60)
	for i := range flux {
		flux[i], e[i] = 1+0.1*math.Cos(float64(i)), 0.1
	}
	vel, depth, outside := ad.Input("vel", b), ad.Input("depth", b, 1), ad.Input("outside", b)
	l := spectra.NewLikelihood(vel, nil, spectra.Exposure{Arm: arm, Template: ad.Mul(depth, ad.Const(template, b, len(lam))), Flux: ad.Const(flux, b, 60), Err: ad.Const(e, b, 60), Outside: outside})
	in := []*ad.Node{vel, depth, outside}
	p, err := ad.Compile(append([]*ad.Node{l.ChiSquare, l.Spectra[0].ChiSquare, l.Spectra[0].Model}, ad.Grad(l.ChiSquare, in[:2]...)...), ad.Settings{Inputs: in})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	for i := range b {
		s.Input(1)[i] = 1
	}
	copy(s.Input(2), far)
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	const penalty = 10 * 60
	chi := s.Output(1)
	want := []float64{chi[0], chi[1] + 0.5*penalty, 1000 * penalty, 1000 * penalty, 1000 * penalty, chi[5]}
	for i, w := range want {
		if got := s.Output(0)[i]; !(math.Abs(got-w) < 1e-9*math.Abs(w)) {
			t.Errorf("star %d: %g, want %g", i, got, w)
		}
		skipped := w == 1000*penalty
		if math.IsNaN(s.Output(2)[i*60]) != skipped {
			t.Errorf("star %d: model %g", i, s.Output(2)[i*60])
		}
		for k := 3; k < 5; k++ {
			if g := s.Output(k)[i]; math.IsNaN(g) || skipped && g != 0 {
				t.Errorf("star %d: gradient %g", i, g)
			}
		}
	}
}

// A pixel that is masked by a large error does not matter, and gradients by flux and errors are those of differences.
func TestFloorAndJitter(t *testing.T) {
	lam := logGrid(4990, 1e-4, 120)
	obs := make([]float64, 60)
	for i := range obs {
		obs[i] = 5000 + 0.8*float64(i)
	}
	arm, err := spectra.NewArm(spectra.ArmSettings{Template: lam, Observed: obs, Continuum: 4, MinVel: -100, MaxVel: 100})
	if err != nil {
		t.Fatal(err)
	}
	template, flux, e := make([]float64, len(lam)), make([]float64, 60), make([]float64, 60)
	for i := range template {
		template[i] = 0.2 * math.Sin(float64(i)/5)
	}
	for i := range flux {
		flux[i], e[i] = 1+0.1*math.Cos(float64(i)), 0.05
	}
	floor, vel := ad.Input("floor"), ad.Input("vel")
	l := spectra.NewLikelihood(vel, ad.Scalar(20), spectra.Exposure{Arm: arm, Template: ad.Const(template), Flux: ad.Const(flux), Err: ad.Const(e), Floor: floor})
	p, err := ad.Compile(append([]*ad.Node{l.ChiSquare, spectra.Hessian(l.ChiSquare, vel, floor)}, ad.Grad(l.ChiSquare, vel, floor)...), ad.Settings{Inputs: []*ad.Node{vel, floor}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	at := func(v, f float64) (chi, dv, df float64, h []float64) {
		s.Input(0)[0], s.Input(1)[0] = v, f
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		return s.Output(0)[0], s.Output(2)[0], s.Output(3)[0], s.OutputFloat64(1)
	}
	_, dv, df, h := at(10, 0.03)
	const d = 1e-5
	upV, gv1, gf1, _ := at(10+d, 0.03)
	downV, gv0, gf0, _ := at(10-d, 0.03)
	upF, hv1, hf1, _ := at(10, 0.03+d)
	downF, hv0, hf0, _ := at(10, 0.03-d)
	near(t, "gradient", []float64{dv, df}, []float64{(upV - downV) / (2 * d), (upF - downF) / (2 * d)}, 1e-6)
	near(t, "Hessian", h, []float64{(gv1 - gv0) / (2 * d), (gf1 - gf0) / (2 * d), (hv1 - hv0) / (2 * d), (hf1 - hf0) / (2 * d)}, 1e-6)
}

// With half of an arm masked by errors of 1e9, float32 gives what float64 does, though the normal matrix is too
// ill-conditioned for either.
func TestHalfMaskedInFloat32(t *testing.T) {
	lam := logGrid(4990, 1e-4, 400)
	obs, flux, e := make([]float64, 300), make([]float64, 300), make([]float64, 300)
	template := make([]float64, len(lam))
	for i := range template {
		template[i] = 0.2 * math.Sin(float64(i)/5)
	}
	for i := range obs {
		obs[i], flux[i], e[i] = 5000+0.5*float64(i), 40+4*math.Cos(float64(i)/9), 1
		if i >= 150 {
			e[i] = 1e9
		}
	}
	arm, err := spectra.NewArm(spectra.ArmSettings{Template: lam, Observed: obs, Continuum: 15, MinVel: -100, MaxVel: 100})
	if err != nil {
		t.Fatal(err)
	}
	vel, vsini := ad.Input("vel"), ad.Input("vsini")
	l := spectra.NewLikelihood(vel, vsini, spectra.Exposure{Arm: arm, Template: ad.Const(template), Flux: ad.Const(flux), Err: ad.Const(e)})
	outs := append([]*ad.Node{l.Spectra[0].Marginal}, ad.Grad(l.ChiSquare, vel, vsini)...)
	_, h := l.GaussNewton(vel, vsini)
	outs = append(outs, h)
	var got [2][]float64
	for k, bits := range []int{64, 32} {
		p, err := ad.Compile(outs, ad.Settings{Inputs: []*ad.Node{vel, vsini}, Precision: bits})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		if err := errors.Join(s.SetInput(0, []float64{12}), s.SetInput(1, []float64{30}), s.Run()); err != nil {
			t.Fatal(err)
		}
		for o := range outs {
			got[k] = append(got[k], s.OutputFloat64(o)...)
		}
	}
	near(t, "chi-square", got[1][:1], got[0][:1], 1e-5)
	near(t, "gradient", got[1][1:3], got[0][1:3], 1e-4)
	near(t, "Gauss-Newton", got[1][3:], got[0][3:], 1e-3)
}

// An arm says what is wrong with its settings, with numbers.
func TestArmRefuses(t *testing.T) {
	lam, obs := logGrid(4990, 1e-4, 200), []float64{5000, 5001, 5002, 5003, 5004, 5005}
	good := spectra.ArmSettings{Template: lam, Observed: obs, MinVel: -100, MaxVel: 100}
	if a, err := spectra.NewArm(good); err != nil {
		t.Fatal(err)
	} else if a.Settings().Continuum != 5 {
		t.Errorf("0 continuum functions are %d, want the default 5", a.Settings().Continuum)
	}
	wide := good
	wide.MinVel, wide.MaxVel, wide.Template = 0, 0, logGrid(4950, 1e-4, 400)
	if a, err := spectra.NewArm(wide); err != nil {
		t.Fatal(err)
	} else if s := a.Settings(); s.MinVel != -1000 || s.MaxVel != 1000 {
		t.Errorf("velocities %g to %g by default, want -1000 to 1000", s.MinVel, s.MaxVel)
	}
	var grid *spectra.GridError
	var coverage *spectra.CoverageError
	for _, c := range []struct {
		name string
		edit func(s *spectra.ArmSettings)
		as   any
	}{
		{"linear", func(s *spectra.ArmSettings) { s.Linear = true }, &grid},
		{"narrow", func(s *spectra.ArmSettings) { s.MinVel, s.MaxVel = -1000, 1000 }, &coverage},
		{"falling", func(s *spectra.ArmSettings) { s.Observed = []float64{5001, 5000, 5002, 5003, 5004} }, nil},
		{"equal", func(s *spectra.ArmSettings) { s.Observed = []float64{5000, 5001, 5001, 5002, 5003, 5004} }, nil},
		{"backwards", func(s *spectra.ArmSettings) { s.MinVel = -spectra.SpeedOfLight }, nil},
		{"crossed", func(s *spectra.ArmSettings) { s.MinVel, s.MaxVel = 100, -100 }, nil},
		{"rotating", func(s *spectra.ArmSettings) {
			s.Linear, s.Template = true, make([]float64, 200)
			for i := range s.Template {
				s.Template[i] = 4990 + 0.5*float64(i)
			}
		}, nil},
		{"many", func(s *spectra.ArmSettings) { s.Continuum = 7 }, nil},
		{"short", func(s *spectra.ArmSettings) { s.Template = lam[:3] }, nil},
		{"fast", func(s *spectra.ArmSettings) { s.MaxVel = 4e5 }, nil},
		{"wide", func(s *spectra.ArmSettings) {
			s.Resolution = &spectra.Resolution{Half: 0, Pixels: 3, Band: []float64{1, 1, 1}}
		}, nil},
	} {
		s := good
		c.edit(&s)
		_, err := spectra.NewArm(s)
		if err == nil || c.as != nil && !errors.As(err, c.as) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	s := good
	s.MinVel, s.MaxVel = -100, 2000
	_, err := spectra.NewArm(s)
	f := math.Sqrt((1 + 2000/spectra.SpeedOfLight) / (1 - 2000/spectra.SpeedOfLight))
	if !errors.As(err, &coverage) || coverage.Velocity != 2000 || coverage.NeedFirst != 5000 || coverage.NeedLast != 5005 ||
		math.Abs(coverage.First/(lam[0]*f)-1) > 1e-14 || math.Abs(coverage.Last/(lam[199]*f)-1) > 1e-14 {
		t.Errorf("velocities that the template does not cover give %v", err)
	}
	// All points are checked, not only the first and the last.
	g, err := spectra.NewGrid(lam, true)
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.At([]float64{5000, 4000, 5001})
	if !errors.As(err, &coverage) || coverage.Point != 1 || coverage.NeedFirst != 4000 {
		t.Errorf("a point outside gives %v", err)
	}
}

// A velocity beyond the template's reach gives NaN in that star alone.
func TestVelocityBeyondCoverage(t *testing.T) {
	c := firstCase(t, plain, "grid")
	g := buildChain(t, c, 2, nil)
	p, err := ad.Compile([]*ad.Node{g.like.ChiSquare}, ad.Settings{Inputs: g.params()})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	for i := range 2 {
		s.Input(0)[i], s.Input(1)[i] = c.Params[0], c.Params[1]
		copy(s.Input(2)[4*i:], c.Params[2:])
	}
	s.Input(0)[1] = 20000
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	near(t, "star within", s.Output(0)[:1], []float64{*c.ChiSq}, 1e-9)
	if !math.IsNaN(s.Output(0)[1]) {
		t.Errorf("a star at 20000 km/s has %g, want NaN", s.Output(0)[1])
	}
}

// Any number of goroutines gives the same bits, in both precisions.
func TestThreadsGiveTheSameBits(t *testing.T) {
	d := newDesiStars(t, 3, false)
	outs := append([]*ad.Node{d.like.ChiSquare}, ad.Grad(d.like.ChiSquare, d.vel, d.vsini)...)
	g, h := d.like.GaussNewton(d.vel, d.vsini)
	outs = append(outs, g, h)
	for _, bits := range []int{64, 32} {
		var want [][]float64
		for _, threads := range []int{1, 2, 5} {
			s := d.program(t, bits, threads, outs...)
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			for o := range outs {
				got := s.OutputFloat64(o)
				if threads == 1 {
					want = append(want, got)
				} else if !slices.Equal(got, want[o]) {
					t.Errorf("float%d, %d threads: output %d is %v, want %v", bits, threads, o, got, want[o])
				}
			}
		}
	}
}

// The chain runs on a device, without steps on the processor.
func TestChainOnDevice(t *testing.T) {
	pretend.Shared(t)
	lam := logGrid(4960, 1e-4, 260)
	obs := make([]float64, 70)
	for i := range obs {
		obs[i] = 5000 + 0.8*float64(i)
	}
	r, err := spectra.GaussianResolution(obs, 4000)
	if err != nil {
		t.Fatal(err)
	}
	const b = 2
	for _, compat := range []bool{false, true} {
		arm, err := spectra.NewArm(spectra.ArmSettings{Template: lam, Observed: obs, Continuum: 4, Resolution: r, MinVel: -300, MaxVel: 300, Rotation: spectra.Rotation{Compat: compat, MaxVsini: 150}})
		if err != nil {
			t.Fatal(err)
		}
		template, flux, e := make([]float64, b*len(lam)), make([]float64, b*70), make([]float64, b*70)
		for i := range template {
			template[i] = 0.2 * math.Sin(float64(i)/5)
		}
		for i := range flux {
			flux[i], e[i] = 1+0.1*math.Cos(float64(i)), 0.05
		}
		vel, vsini := ad.Input("vel", b), ad.Input("vsini", b)
		in := []*ad.Node{vel, vsini}
		l := spectra.NewLikelihood(vel, vsini, spectra.Exposure{Arm: arm, Template: ad.Const(template, b, len(lam)), Flux: ad.Const(flux, b, 70), Err: ad.Const(e, b, 70)})
		g, h := l.GaussNewton(in...)
		outs := append([]*ad.Node{l.ChiSquare, g, h}, ad.Grad(l.ChiSquare, in...)...)
		var want [][]float64
		for _, backend := range []ad.Backend{ad.CPU{}, ad.CUDA{}} {
			p, err := ad.Compile(outs, ad.Settings{Inputs: in, Backend: backend})
			if err != nil {
				t.Fatal(err)
			}
			if on := p.OnProcessor(); len(on) > 0 {
				t.Errorf("on the processor: %v", on)
			}
			s := p.NewState()
			if err := errors.Join(s.SetInput(0, []float64{30, -250}), s.SetInput(1, []float64{12, 60}), s.Run()); err != nil {
				t.Fatal(err)
			}
			for o := range outs {
				if got := s.OutputFloat64(o); want == nil || o >= len(want) {
					want = append(want, got)
				} else {
					near(t, fmt.Sprintf("compat=%v, output %d", compat, o), got, want[o], 1e-9)
				}
			}
		}
	}
}

// Resolution matrices say what is wrong with their numbers.
func TestResolutionRefuses(t *testing.T) {
	lam := []float64{5000, 5001, 5002}
	for name, f := range map[string]func() error{
		"negative width": func() error { _, err := spectra.NewResolution(-1, 3, nil); return err },
		"no pixels":      func() error { _, err := spectra.NewResolution(1, 0, nil); return err },
		"short band":     func() error { _, err := spectra.NewResolution(1, 3, make([]float64, 8)); return err },
		"no power":       func() error { _, err := spectra.GaussianResolution(lam, 0); return err },
		"no width":       func() error { _, err := spectra.GaussianWidths(lam, []float64{1, 0, 1}); return err },
		"two widths":     func() error { _, err := spectra.GaussianWidths(lam, []float64{1, 1}); return err },
		"falling":        func() error { _, err := spectra.GaussianWidths([]float64{2, 1}, []float64{1}); return err },
		"even diagonals": func() error { _, err := spectra.DESIResolution(make([]float64, 80), 4, 0.5, 0.8); return err },
		"no diagonals":   func() error { _, err := spectra.DESIResolution(nil, 0, 0.5, 0.8); return err },
		"ragged":         func() error { _, err := spectra.DESIResolution(make([]float64, 31), 3, 0.5, 0.8); return err },
		"few pixels":     func() error { _, err := spectra.DESIResolution(make([]float64, 15), 3, 0.5, 0.8); return err },
		"no sigma":       func() error { _, err := spectra.DESIResolution(make([]float64, 30), 3, 0, 0.8); return err },
	} {
		if err := f(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := spectra.NewResolution(0, 1, []float64{1}); err != nil {
		t.Error(err)
	}
}
