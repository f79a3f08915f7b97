// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ccf

import (
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/golden"
	goldennpy "github.com/euryale-dev/euryale/internal/golden/npy"
	"github.com/euryale-dev/euryale/internal/golden/templates"
	"github.com/euryale-dev/euryale/models/spectra"
)

// npy reads numbers of a golden file and their shape.
func npy(t testing.TB, elem ...string) ([]float64, []int) {
	t.Helper()
	return goldennpy.Read(t, append([]string{"spectra"}, elem...)...)
}

func goldenTemplates(t testing.TB) *Templates {
	t.Helper()
	arms := templates.CCFArms(t)
	c, err := Load(filepath.Dir(golden.Path(t, "spectra", "ccf", "ccf_"+arms[0]+".h5")), arms, true)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// spectrumOf makes a spectrum of the rows of a golden array: wavelength, flux, error, mark.
func spectrumOf(arm string, x []float64) spectra.Spectrum {
	n := len(x) / 4
	s := spectra.Spectrum{Arm: arm, Lam: x[:n], Flux: x[n : 2*n], Err: x[2*n : 3*n], Bad: make([]bool, n)}
	for i, v := range x[3*n:] {
		s.Bad[i] = v != 0
	}
	return s
}

// mock returns the spectra of a mock star.
func mock(t testing.TB, name string) spectra.Star {
	t.Helper()
	star := spectra.Star{Name: name}
	arms := templates.CCFArms(t)
	for _, f := range templates.MockSpectra(t, name) {
		if slices.Contains(arms, f.Arm) {
			x, _ := npy(t, f.File)
			star.Spectra = append(star.Spectra, spectrumOf(f.Arm, x))
		}
	}
	return star
}

func find(t testing.TB, c *Templates, s Settings, stars ...spectra.Star) []Guess {
	t.Helper()
	f, err := New(c, s)
	if err != nil {
		t.Fatal(err)
	}
	g, err := f.Find(context.Background(), stars)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// worst returns the largest difference, relative to the largest number that is wanted.
func worst(got, want []float64) (d float64) {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	size := 0.0
	for i, w := range want {
		size = max(size, math.Abs(w))
		d = max(d, math.Abs(got[i]-w))
		if math.IsNaN(got[i]) {
			return math.Inf(1)
		}
	}
	return d / size
}

type goldenGuess struct {
	Mock      string
	BestPar   map[string]float64 `json:"best_par"`
	BestVel   float64            `json:"best_vel"`
	BestVsini float64            `json:"best_vsini"`
	Least     float64            `json:"best_ccf_min"`
	Nvel      int
	VelGrid0  float64 `json:"vel_grid0"`
	Argmin    int
}

// In compatibility with the reference, guesses for the mock stars are its guesses.
func TestGoldenGuesses(t *testing.T) {
	c := goldenTemplates(t)
	var cases []goldenGuess
	golden.JSON(t, &cases, "spectra", "ccf", "ccf.json")
	type grid struct {
		from  float64
		count int
	}
	finders := map[grid]*Finder{}
	for _, k := range cases {
		t.Run(k.Mock, func(t *testing.T) {
			at := grid{k.VelGrid0, k.Nvel}
			if finders[at] == nil {
				f, err := New(c, Settings{Compat: true, MinVel: at.from, MaxVel: -at.from, Step: -2 * at.from / float64(at.count-1)})
				if err != nil {
					t.Fatal(err)
				}
				finders[at] = f
			}
			guesses, err := finders[at].Find(context.Background(), []spectra.Star{mock(t, k.Mock)})
			if err != nil || guesses[0].Err != nil {
				t.Fatal(err, guesses[0].Err)
			}
			g := guesses[0]
			curve, _ := npy(t, "ccf", "ccf_"+k.Mock+"_best_ccf.npy")
			t.Logf("velocity off by %.2g km/s, chi-square by %.2g, curve by %.2g", g.Vel-k.BestVel, g.ChiSquare/k.Least-1, worst(g.Curve, curve))
			if math.Abs(g.Vel-k.BestVel) > 0.05 || g.Vsini != k.BestVsini {
				t.Errorf("velocity %g and rotation %g, want %g and %g", g.Vel, g.Vsini, k.BestVel, k.BestVsini)
			}
			for i, name := range c.names {
				if g.Params[i] != k.BestPar[name] {
					t.Errorf("%s is %g, want %g", name, g.Params[i], k.BestPar[name])
				}
			}
			if e := worst(g.Curve, curve); e > 1e-4 {
				t.Errorf("the curve is off by %.2g", e)
			}
			if at := slices.Index(g.Curve, slices.Min(g.Curve)); at != k.Argmin || math.Abs(g.ChiSquare-k.Least) > 1e-4*k.Least {
				t.Errorf("least chi-square %g at %d, want %g at %d", g.ChiSquare, at, k.Least, k.Argmin)
			}
		})
	}
}

// Prepared spectra are those of the reference.
func TestGoldenPreparedSpectra(t *testing.T) {
	c := goldenTemplates(t)
	for _, name := range golden.Glob(t, "spectra/ccf/ccf_*_proc_*.npy") {
		mockName, arm, _ := strings.Cut(strings.TrimPrefix(golden.Base(name), "ccf_"), "_proc_")
		for _, s := range mock(t, mockName).Spectra {
			if s.Arm == arm {
				flux, _ := npy(t, "ccf", golden.Base(name)+".npy")
				ivar, _ := npy(t, "ccf", "ccf_"+mockName+"_ivar_"+arm+".npy")
				comparePrepared(t, c.find(arm), &s, flux, ivar)
			}
		}
	}
}

func comparePrepared(t *testing.T, a *arm, s *spectra.Spectrum, flux, ivar []float64) {
	t.Helper()
	p, err := a.prepare(s)
	if err != nil || p == nil {
		t.Fatal(p, err)
	}
	ef, ei := worst(p.flux, flux), worst(p.ivar, ivar)
	t.Logf("%s: flux off by %.2g, inverse variance by %.2g", s.Arm, ef, ei)
	if ef > 1e-3 || ei > 2e-3 {
		t.Errorf("%s: flux off by %.2g, inverse variance by %.2g", s.Arm, ef, ei)
	}
}

// So are those of a real spectrum, and its continuum.
func TestGoldenSDSS(t *testing.T) {
	var f struct {
		Cases []struct {
			CCF  *int
			Conf struct {
				LogL0, LogL1, SplineStep float64
				NPoints                  int
				Continuum                bool
			}
		}
	}
	golden.JSON(t, &f, "spectra", "sdss", "sdss.json")
	x, shape := npy(t, "sdss", "spec.npy")
	n := shape[1]
	s := spectra.Spectrum{Arm: "sdss", Lam: x[:n], Flux: x[n : 2*n], Err: x[3*n:]}
	found := 0
	for _, k := range f.Cases {
		if k.CCF == nil {
			continue
		}
		found++
		a := &arm{name: "sdss", points: k.Conf.NPoints, logL0: k.Conf.LogL0, logL1: k.Conf.LogL1, continuum: k.Conf.Continuum, nodeStep: k.Conf.SplineStep}
		for i := range a.points {
			a.lam = append(a.lam, math.Exp(a.logLam(i)))
		}
		name := fmt.Sprintf("ccf%d_", *k.CCF)
		flux, _ := npy(t, "sdss", name+"spec.npy")
		ivar, _ := npy(t, "sdss", name+"ivar.npy")
		comparePrepared(t, a, &s, flux, ivar)
		want, _ := npy(t, "sdss", name+"continuum_direct.npy")
		got, err := continuum(s.Lam, s.Flux, s.Err, a.nodeStep)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if math.Abs(got[i]/want[i]-1) > 1e-3 {
				t.Fatalf("continuum at %g Angstrom is %g, want %g", s.Lam[i], got[i], want[i])
			}
		}
	}
	if found == 0 {
		t.Skip("this set has no spectrum prepared for cross-correlation")
	}
}

// batch returns the stars of the batch.
func batch(t testing.TB, count int) []spectra.Star {
	t.Helper()
	stars := make([]spectra.Star, count)
	for _, arm := range templates.CCFArms(t) {
		x, shape := npy(t, "batch", "spectra_"+arm+".npy")
		size := shape[1] * shape[2]
		for i := range stars {
			stars[i].Spectra = append(stars[i].Spectra, spectrumOf(arm, x[i*size:(i+1)*size]))
		}
	}
	return stars
}

// Guesses for the stars of the batch are the starts that the reference had.
func TestGoldenBatch(t *testing.T) {
	c := goldenTemplates(t)
	var f struct {
		Cases []struct {
			CCF struct {
				BestVel float64 `json:"best_vel"`
				Start   map[string]float64
			}
		}
	}
	golden.JSON(t, &f, "spectra", "batch", "batch.json")
	stars := batch(t, len(f.Cases))
	far := 0.0
	for i, g := range find(t, c, Settings{Compat: true}, stars...) {
		want := f.Cases[i].CCF
		got := map[string]float64{spectra.Vsini: g.Vsini}
		for k, name := range c.names {
			got[name] = g.Params[k]
		}
		far = max(far, math.Abs(g.Vel-want.BestVel))
		if g.Err != nil || !maps.Equal(got, want.Start) || !(math.Abs(g.Vel-want.BestVel) <= 0.05) {
			t.Errorf("star %d: %v at %g km/s (%v), want %v at %g", i, got, g.Vel, g.Err, want.Start, want.BestVel)
		}
	}
	t.Logf("velocities off by up to %.2g km/s", far)
}

// Without a division by the continuum, guesses are the reference's, with templates made of its library.
func TestGoldenGuessesWithContinuum(t *testing.T) {
	withContinuum := goldenTemplates(t)
	var cases []struct {
		goldenGuess
		NoCont *goldenGuess
	}
	golden.JSON(t, &cases, "spectra", "ccf", "ccf.json")
	var made []*rvspecfit.CCF
	for _, a := range withContinuum.arms {
		if !golden.Has(t, "spectra", "library", "interp_"+a.name+".h5") {
			t.Skipf("this set has no library for %s", a.name)
		}
		lib, err := rvspecfit.Load(filepath.Dir(golden.Path(t, "spectra", "library", "interp_"+a.name+".h5")), a.name)
		if err != nil {
			t.Fatal(err)
		}
		source, err := FromTemplates(lib)
		if err != nil {
			t.Fatal(err)
		}
		s := settingsOf(t, a, withContinuum, source)
		c, err := Build(source, s)
		if err != nil {
			t.Fatal(err)
		}
		if e := worst(c.Models.Float64s(), float64s(a.models)); e > 1e-5 {
			t.Errorf("%s: templates over their continuum are off by %.2g", a.name, e)
		}
		s.NoContinuum = true
		if c, err = Build(source, s); err != nil {
			t.Fatal(err)
		}
		made = append(made, c)
	}
	c, err := NewTemplates(made...)
	if err != nil {
		t.Fatal(err)
	}
	var stars []spectra.Star
	for _, k := range cases {
		stars = append(stars, mock(t, k.Mock))
	}
	for i, g := range find(t, c, Settings{Compat: true}, stars...) {
		k := cases[i]
		if k.NoCont == nil {
			continue
		}
		want := k.NoCont
		t.Logf("%s: velocity off by %.2g km/s, chi-square by %.2g", k.Mock, g.Vel-want.BestVel, g.ChiSquare/want.Least-1)
		if g.Err != nil || math.Abs(g.Vel-want.BestVel) > 0.05 || g.Vsini != want.BestVsini || math.Abs(g.ChiSquare/want.Least-1) > 1e-4 {
			t.Errorf("%s: velocity %g, rotation %g, chi-square %g (%v), want %g, %g, %g", k.Mock, g.Vel, g.Vsini, g.ChiSquare, g.Err, want.BestVel, want.BestVsini, want.Least)
		}
		for i, name := range c.names {
			if math.Abs(g.Params[i]-want.BestPar[name]) > 1e-9*math.Abs(want.BestPar[name]) {
				t.Errorf("%s: %s is %g, want %g", k.Mock, name, g.Params[i], want.BestPar[name])
			}
		}
	}
}

func float64s(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}
