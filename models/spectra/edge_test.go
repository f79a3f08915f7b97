// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/golden/templates"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// A star with bad data has an error that says where, and the others have their fits.
func TestBadStars(t *testing.T) {
	stars, optima := batchStars(t)
	good := stars[0]
	with := func(edit func(s *Star)) Star {
		s := good
		s.Spectra, s.Starts = slices.Clone(good.Spectra), slices.Clone(good.Starts)
		edit(&s)
		return s
	}
	last := func(s *Star) *Spectrum { return &s.Spectra[len(s.Spectra)-1] }
	bad := map[string]Star{
		"no spectra":                 with(func(s *Star) { s.Spectra = nil }),
		"no parameters to start":     with(func(s *Star) { s.Starts = nil }),
		"want [teff logg feh alpha]": with(func(s *Star) { s.Starts[0].Params = []float64{1} }),
		"the library has no arm":     with(func(s *Star) { s.Spectra[0].Arm = "desi_q" }),
		"the flux at":                with(func(s *Star) { x := last(s); x.Flux = slices.Clone(x.Flux); x.Flux[7] = math.NaN() }),
		"want a finite number above": with(func(s *Star) { x := last(s); x.Err = slices.Clone(x.Err); x.Err[7] = 0 }),
		"want ascending, finite":     with(func(s *Star) { x := last(s); x.Lam = slices.Clone(x.Lam); x.Lam[3] = 1 }),
		"give as many of each":       with(func(s *Star) { s.Spectra[0].Flux = s.Spectra[0].Flux[1:] }),
		"the template covers":        with(func(s *Star) { s.Spectra[0] = shifted(s.Spectra[0], 500) }),
		"not finite at the start":    with(func(s *Star) { s.Starts[0].Params = []float64{-3, 4, 0, 0} }),
		"is not finite: want":        with(func(s *Star) { s.Starts[0].Vsini = math.Inf(1) }),
	}
	var list []Star
	var wants []string
	for want, s := range bad {
		list, wants = append(list, s), append(wants, want)
	}
	list = append(list, good)
	lib, settings := batchSettings(t)
	settings.Batch, settings.NoVerdict = 4, true
	fitter, err := NewFitter(lib, settings)
	if err != nil {
		t.Fatal(err)
	}
	fits, err := fitter.Fit(context.Background(), list)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range wants {
		if e := fits[i].Err; e == nil || !strings.Contains(e.Error(), want) || !strings.Contains(e.Error(), good.Name) {
			t.Errorf("%v, want %q", e, want)
		}
	}
	if last := fits[len(wants)]; last.Err != nil || math.Abs(last.ChiSquare-optima[0].Chisq) > 0.01 {
		t.Errorf("the good star: %v, %v", last.ChiSquare, last.Err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := fitter.Fit(ctx, list); err == nil {
		t.Error("a fit after its end")
	}
	if fits, err := fitter.Fit(context.Background(), nil); err != nil || len(fits) != 0 {
		t.Error(fits, err)
	}
}

// shifted moves a spectrum by some Angstrom.
func shifted(s Spectrum, by float64) Spectrum {
	s.Lam = slices.Clone(s.Lam)
	for i := range s.Lam {
		s.Lam[i] -= by
	}
	return s
}

// Mistakes in settings are told all at once.
func TestBadSettings(t *testing.T) {
	_, err := NewFitter(goldenLibrary(t, "nn"), Settings{
		Fixed: map[string]float64{"tef": 5000, "logg": math.NaN(), Vsini: -5, Vel: 1e6}, Priors: map[string]dist.Dist{"vmic": dist.Normal(0, 1)},
		Floor: map[string]float64{"desi_q": 1}, MinVel: 5, MaxVel: -5, Batch: -1,
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`fixed: parameter "tef"`, `did you mean "teff"`, "logg is fixed at NaN", "vsini is fixed at -5", "vel is fixed at 1e+06", `prior: parameter "vmic"`, "desi_q", "velocities go from 5 to -5", "Batch is -1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
}

// The reference looks its starting steps up by name: fixing teff ends it, and so does a parameter that is called
// vmic. Here names do not matter.
func TestFixedTeffAndUnknownNames(t *testing.T) {
	tier.SlowOnly(t)
	t.Parallel()
	stars, optima := batchStars(t)
	star, truth := stars[0], optima[0].Params
	renamed := goldenLibrary(t, "nn")
	renamed.Params = []string{"temperature", "vmic", "feh", "vmac"}
	fit := func(l *Library, fixed map[string]float64) Fit {
		f, err := NewFitter(l, Settings{Continuum: 10, Batch: 1, Fixed: fixed})
		if err != nil {
			t.Fatal(err)
		}
		fits, err := f.Fit(context.Background(), []Star{star})
		if err != nil || fits[0].Err != nil {
			t.Fatal(err, fits[0].Err)
		}
		return fits[0]
	}
	usual, other := fit(goldenLibrary(t, "nn"), nil), fit(renamed, nil)
	if !slices.Equal(usual.X, other.X) || !slices.Equal(usual.Cov, other.Cov) || !slices.Equal(other.Names, []string{Vel, Vsini, "temperature", "vmic", "feh", "vmac"}) {
		t.Errorf("%v with other names %v, want %v", other.X, other.Names, usual.X)
	}
	held := fit(goldenLibrary(t, "nn"), map[string]float64{"teff": truth[2]})
	if held.X[2] != truth[2] || !math.IsNaN(held.SD[2]) || math.Abs(held.ChiSquare-usual.ChiSquare) > 0.01 {
		t.Errorf("with teff fixed: %v +- %v, chi-square %v, want %v", held.X, held.SD, held.ChiSquare, usual.ChiSquare)
	}
	for k := range held.X {
		// Errors are those of the Hessian without its row, which are smaller.
		if k != 2 && (!(held.SD[k] <= usual.SD[k]*1.001) || !(held.SD[k] > 0.1*usual.SD[k])) {
			t.Errorf("with teff fixed the error of %s is %v, else %v", held.Names[k], held.SD[k], usual.SD[k])
		}
	}
}

// rounded is an interpolator whose spectra have the rounding errors of float32, and derivatives without.
type rounded struct{ Interpolator }

func (r rounded) Interpolate(x *ad.Node) (logFlux, outside *ad.Node) {
	logFlux, outside = r.Interpolator.Interpolate(x)
	return ad.Call(&ad.Custom{
		Name:  "float32",
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) { return in[0], nil },
		Forward: func(out []float64, in ...[]float64) error {
			for i, v := range in[0] {
				out[i] = float64(float32(v))
			}
			return nil
		},
		VJP: func(g, y *ad.Node, x []*ad.Node) []*ad.Node { return []*ad.Node{g} },
	}, logFlux), outside
}

// Noise of float32 in a network's spectra ruins the reference's errors, which are finite differences: of star
// m1 they are too small by factors of 1.2 to 1.8. Errors by derivatives stay within 1 %, and chi-square within
// 1e-4.
func TestErrorsWithFloat32Noise(t *testing.T) {
	exact, noisy := goldenLibrary(t, "nn"), goldenLibrary(t, "nn")
	for _, a := range noisy.Arms {
		a.Interpolator = rounded{a.Interpolator}
	}
	star := anyMock(t)
	star.Starts = []Start{{Vel: -40, Vsini: 20, Params: []float64{5300, 3, -1, 0.3}}, {Vel: math.NaN(), Vsini: 20, Params: []float64{5300, 3, -1, 0.3}}}
	var fits [2]Fit
	for i, l := range []*Library{exact, noisy} {
		f, err := NewFitter(l, Settings{Continuum: 10, Batch: 2, NoVerdict: true})
		if err != nil {
			t.Fatal(err)
		}
		some, err := f.Fit(context.Background(), []Star{star})
		if err != nil || some[0].Err != nil {
			t.Fatal(err, some[0].Err)
		}
		if fits[i] = some[0]; len(fits[i].AtBound) > 0 || fits[i].BadHessian || !fits[i].Converged {
			t.Fatal(fits[i].AtBound, fits[i].Status)
		}
	}
	a, b := fits[0], fits[1]
	if d := math.Abs(a.ChiSquare - b.ChiSquare); d == 0 || d > 1e-4*math.Abs(a.ChiSquare) {
		t.Errorf("chi-square %v and with noise %v", a.ChiSquare, b.ChiSquare)
	}
	for k, name := range a.Names {
		if !(math.Abs(b.SD[k]/a.SD[k]-1) < 0.01) || k > 1 && !(math.Abs(b.Conditional[k]/a.Conditional[k]-1) < 0.01) {
			t.Errorf("%s: errors %v and %v, with noise %v and %v", name, a.SD[k], a.Conditional[k], b.SD[k], b.Conditional[k])
		}
		if !(math.Abs(a.X[k]-b.X[k]) < 0.02*a.SD[k]) {
			t.Errorf("%s: %v +- %v, with noise %v", name, a.X[k], a.SD[k], b.X[k])
		}
	}
}

// The reference's search can stop hundreds above the minimum at high signal-to-noise ratios. Fits of such stars
// from far away end no higher than those from the truth, except in another minimum, which more starts avoid.
func TestFitsDoNotStopEarly(t *testing.T) {
	tier.SlowOnly(t)
	t.Parallel()
	for _, kind := range []string{"nn", "grid"} {
		lib := goldenLibrary(t, kind)
		s := newSimulator(t, lib, anyMock(t).Spectra[:2], 21)
		var far, near []Star
		for i := range 6 {
			theta := []float64{-60 + 25*float64(i), 20 + 8*float64(i), 4900 + 160*float64(i), 2.3 + 0.4*float64(i), -1.4 + 0.25*float64(i), 0.15 + 0.1*float64(i)}
			star := Star{Spectra: s.spectra(t, theta, 1.0/150, ""), Starts: []Start{{Vel: theta[0], Vsini: theta[1], Params: theta[2:]}}}
			near = append(near, star)
			star.Starts = nil
			for _, p := range [][]float64{{5000, 2.4, -1, 0.2}, {5600, 4, -0.6, 0.5}} {
				star.Starts = append(star.Starts, Start{Vel: math.NaN(), Vsini: 30, Params: p})
			}
			far = append(far, star)
		}
		f, err := NewFitter(lib, Settings{Continuum: 6, Batch: 6, NoVerdict: true})
		if err != nil {
			t.Fatal(err)
		}
		fits, err := f.Fit(context.Background(), append(far, near...))
		if err != nil {
			t.Fatal(err)
		}
		for i := range far {
			a, b := fits[i], fits[i+len(far)]
			if a.Err != nil || b.Err != nil || !a.Converged || !b.Converged || !(a.ChiSquare < b.ChiSquare+0.05) {
				t.Errorf("%s, star %d: chi-square %v (%s) and from the truth %v (%s)", kind, i, a.ChiSquare, a.Status, b.ChiSquare, b.Status)
			}
		}
	}
}

// A zero is either a value or stands for a default that the documentation names; nothing else is zero silently.
func TestZeros(t *testing.T) {
	t.Parallel()
	stars, _ := batchStars(t)
	fit := func(s Settings) Fit {
		s.Batch, s.NoVerdict, s.FixedContinuum = 1, true, true
		f, err := NewFitter(goldenLibrary(t, "nn"), s)
		if err != nil {
			t.Fatal(err)
		}
		fits, err := f.Fit(context.Background(), stars[:1])
		if err != nil || fits[0].Err != nil {
			t.Fatal(err, fits[0].Err)
		}
		return fits[0]
	}
	// Continuum: 0 is 5, as documented, and 1 is one function.
	none, five, one := fit(Settings{}), fit(Settings{Continuum: 5}), fit(Settings{Continuum: 1})
	if !slices.Equal(none.X, five.X) || none.ChiSquare != five.ChiSquare || len(none.Spectra[0].Coefficients) != 5 || len(one.Spectra[0].Coefficients) != 1 {
		t.Errorf("%v of %d functions and %v of %d", none.X, len(none.Spectra[0].Coefficients), five.X, len(five.Spectra[0].Coefficients))
	}
	if _, err := NewFitter(goldenLibrary(t, "nn"), Settings{Continuum: -1}); err == nil || !strings.Contains(err.Error(), "Continuum is -1: want at least 1") {
		t.Errorf("a continuum of -1 functions: %v", err)
	}
	// Parameters that are fixed at 0 are 0, and a range that begins at 0 begins there.
	if f := fit(Settings{Fixed: map[string]float64{Vel: 0, Vsini: 0, "alpha": 0}}); f.X[0] != 0 || f.X[1] != 0 || f.X[5] != 0 || f.Velocity != (VelocityPosterior{}) {
		t.Errorf("fixed at 0: %v, %+v", f.X, f.Velocity)
	}
	if f := fit(Settings{MinVel: 0, MaxVel: 500}); f.X[0] < 0 || f.Velocity.Vel < 0 {
		t.Errorf("velocities from 0: %v, %v", f.X[0], f.Velocity)
	}
	// An error floor of 0 is none.
	if f := fit(Settings{Floor: map[string]float64{templates.Arms(t)[0]: 0}}); f.ChiSquare != none.ChiSquare {
		t.Errorf("a floor of 0 gives chi-square %v, want %v", f.ChiSquare, none.ChiSquare)
	}
}
