// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/tier"
)

// drawn makes stars with parameters drawn at random, and a change of their spectra: flux has the noise of errors e, quiet does
// not, and other has the spectrum of a star 80 to 200 km/s away.
type drawn struct {
	sim, quiet *simulator
	rng        *rand.Rand
	truth      [][]float64
}

func draw(t testing.TB, lib *Library, seed uint64) *drawn {
	like := anyMock(t).Spectra
	d := &drawn{sim: newSimulator(t, lib, like, seed), quiet: newSimulator(t, lib, like, seed), rng: rand.New(rand.NewPCG(seed, 1))}
	d.quiet.quiet = true
	return d
}

func (d *drawn) between(lo, hi float64) float64 { return lo + (hi-lo)*d.rng.Float64() }

// theta returns the parameters of a star in the middle of the library.
func (d *drawn) theta() []float64 {
	return []float64{d.between(-50, 50), d.between(0, 40), d.between(5200, 5700), d.between(2.7, 3.8), d.between(-1.3, -0.7), d.between(0.2, 0.6)}
}

// stars returns stars of parameters that are drawn, and keeps these.
func (d *drawn) stars(t testing.TB, count int, e func(i int) float64, change func(theta []float64, s, own []Spectrum)) (stars []Star) {
	for i := range count {
		theta := d.theta()
		s := Star{Name: fmt.Sprint("star ", i), Spectra: d.sim.spectra(t, theta, e(i), ""), Starts: []Start{{Vel: theta[0], Vsini: 40, Params: []float64{5400, 3.2, -1, 0.38}}}}
		if change != nil {
			change(theta, s.Spectra, d.quiet.spectra(t, theta, e(i), ""))
		}
		stars, d.truth = append(stars, s), append(d.truth, theta)
	}
	return stars
}

func fitAll(t testing.TB, lib *Library, s Settings, stars []Star) []Fit {
	f, err := NewFitter(lib, s)
	if err != nil {
		t.Fatal(err)
	}
	fits, err := f.Fit(context.Background(), stars)
	if err != nil {
		t.Fatal(err)
	}
	for _, fit := range fits {
		if fit.Err != nil {
			t.Fatal(fit.Err)
		}
	}
	return fits
}

// withSecond replaces a part of the flux by that of a second star.
func (d *drawn) withSecond(t testing.TB, nearest float64) func(theta []float64, s, own []Spectrum) {
	return func(theta []float64, s, own []Spectrum) {
		f, away := d.between(0.1, 0.5), d.between(nearest, 200)
		if d.rng.IntN(2) == 0 {
			away = -away
		}
		second := slices.Clone(theta)
		second[0] += away
		second[2] = d.between(5000, 5500)
		for k, x := range d.quiet.spectra(t, second, 1, "") {
			for p, v := range x.Flux {
				s[k].Flux[p] += f * (v - own[k].Flux[p])
			}
		}
	}
}

// wider and sharper give spectra a resolution that is wrong by Gaussians with a standard deviation of 2 pixels.
func wider(_ []float64, s, own []Spectrum) {
	for k := range s {
		for p, v := range smoothed(own[k].Flux, 2) {
			s[k].Flux[p] += v - own[k].Flux[p]
		}
	}
}

func sharper(_ []float64, s, own []Spectrum) {
	for k := range s {
		for p, v := range smoothed(own[k].Flux, 2) {
			s[k].Flux[p] += own[k].Flux[p] - v
		}
	}
}

// stepped makes the flux step by 8 % in the middle of the second spectrum.
func stepped(_ []float64, s, own []Spectrum) {
	k := min(1, len(s)-1)
	for p := len(s[k].Flux) / 2; p < len(s[k].Flux); p++ {
		s[k].Flux[p] += 0.08 * own[k].Flux[p]
	}
}

// count returns how many fits are flagged, and how many of these begin with a flag of a kind.
func count(fits []Fit, kind string) (flagged, named int) {
	for _, fit := range fits {
		if !fit.Verdict.OK {
			flagged++
			if fit.Verdict.Flags[0].Kind == kind {
				named++
			}
		}
	}
	return flagged, named
}

func same(e float64) func(int) float64 { return func(int) float64 { return e } }

// A second star, a resolution that is wrong and a step of the flux are named.
func TestDeparturesAreNamed(t *testing.T) {
	tier.SlowOnly(t)
	t.Parallel()
	lib := goldenLibrary(t, "nn")
	d := draw(t, lib, 17)
	stars := d.stars(t, 4, same(0.02), d.withSecond(t, 100))
	stars = append(stars, d.stars(t, 4, same(0.02), wider)...)
	stars = append(stars, d.stars(t, 4, same(0.02), sharper)...)
	stars = append(stars, d.stars(t, 4, same(0.02), stepped)...)
	fits := fitAll(t, lib, Settings{Continuum: 10, Batch: 4}, stars)
	for i, kind := range []string{KindSecondStar, KindResolution, KindResolution, KindJump} {
		part := fits[4*i : 4*i+4]
		if flagged, named := count(part, kind); flagged < 4 || named < 4 {
			t.Errorf("%s: %d of 4 flagged, %d named", kind, flagged, named)
			for _, fit := range part {
				t.Log(fit.Verdict)
			}
		}
	}
	t.Log(fits[0].Verdict, fits[4].Verdict)
}

// Continua of cubics, of which the functions of the continuum leave a part, get polynomials, and no part is left. Continua that
// need none have the bits of the fit with fixed functions.
func TestContinuumHasWhatItNeeds(t *testing.T) {
	tier.SlowOnly(t)
	t.Parallel()
	lib := goldenLibrary(t, "nn")
	d := draw(t, lib, 5)
	cubic := func(z float64) float64 { return 1 + 0.2*z - 0.1*z*z + 0.3*z*z*z }
	d.sim.quiet, d.sim.continuum = true, cubic
	stars := d.stars(t, 3, same(1./60), nil)
	d.sim.quiet, d.sim.continuum = false, nil
	stars = append(stars, d.stars(t, 5, same(0.02), nil)...)
	fixed, fits := fitAll(t, lib, Settings{Continuum: 10, Batch: 4, FixedContinuum: true, NoVerdict: true}, stars), fitAll(t, lib, Settings{Continuum: 10, Batch: 4, NoVerdict: true}, stars)
	unchanged := 0
	for i := range stars {
		residue := func(fit *Fit) (sum float64) {
			for _, s := range fit.Spectra {
				sum += s.ChiSquare
			}
			return sum
		}
		switch {
		case i < 3:
			if before, after := residue(&fixed[i]), residue(&fits[i]); !(before > 20 && after < 2) || fits[i].Polynomials == 0 {
				t.Errorf("%s: a residue of %.2f, and of %.2f with %d polynomials", stars[i].Name, before, after, fits[i].Polynomials)
			}
		case fits[i].Polynomials == 0:
			if unchanged++; !slices.Equal(fits[i].X, fixed[i].X) || fits[i].ChiSquare != fixed[i].ChiSquare {
				t.Errorf("%s needs no polynomials, but %v became %v", stars[i].Name, fixed[i].X, fits[i].X)
			}
		}
	}
	if unchanged < 3 {
		t.Errorf("only %d of 5 stars with simple continua have no polynomials", unchanged)
	}
}

// plant adds cosmic rays of 10 to 200 standard deviations and up to a few pixels.
func (d *drawn) plant(_ []float64, s, _ []Spectrum) {
	for range 6 {
		x := s[d.rng.IntN(len(s))]
		at, height, width := 5+d.rng.IntN(len(x.Lam)-10), 10*math.Pow(20, d.rng.Float64()), d.between(0.3, 1)
		for p := -3; p <= 3; p++ {
			x.Flux[at+p] += height * x.Err[at+p] * math.Exp(-float64(p*p)/(2*width*width))
		}
	}
}

// Cosmic rays are left out, and the verdict says where; emission is said to be that.
func TestSpikes(t *testing.T) {
	tier.SlowOnly(t)
	t.Parallel()
	lib := goldenLibrary(t, "nn")
	d := draw(t, lib, 9)
	stars := d.stars(t, 4, same(0.02), d.plant)
	line := func(width float64) func(theta []float64, s, _ []Spectrum) {
		return func(theta []float64, s, _ []Spectrum) { // H alpha
			at := 6564.61 * (1 + theta[0]/299792.458)
			for p, l := range s[1].Lam {
				u := (l - at) / width
				s[1].Flux[p] += 0.5 * math.Exp(-u*u/2)
			}
		}
	}
	stars = append(stars, d.stars(t, 1, same(0.02), line(0.7))...)
	stars = append(stars, d.stars(t, 1, same(0.02), line(4))...)
	kept, fits := fitAll(t, lib, Settings{Continuum: 10, Batch: 4, KeepSpikes: true, NoVerdict: true}, stars[:4]), fitAll(t, lib, Settings{Continuum: 10, Batch: 4}, stars)
	worst, worstKept, found := 0.0, 0.0, 0
	for i, fit := range fits[:4] {
		worst = max(worst, math.Abs(fit.X[0]-d.truth[i][0])/fit.SD[0])
		worstKept = max(worstKept, math.Abs(kept[i].X[0]-d.truth[i][0])/kept[i].SD[0])
		found += len(fit.Spikes)
		said := func(f check.Flag) bool { return f.Kind == KindSpikes || f.Kind == KindEmission }
		if !slices.ContainsFunc(slices.Concat(fit.Verdict.Notes, fit.Verdict.Flags), said) {
			t.Errorf("%s: nothing is said of %d spikes: %v", fit.Star, len(fit.Spikes), fit.Verdict)
		}
		for _, s := range fit.Spikes {
			for p := s.From; p < s.To; p++ {
				if stars[i].Spectra[s.Spectrum].Bad != nil {
					t.Fatal("the data were changed")
				}
			}
		}
	}
	if worst > 3.5 || worstKept < 3.5 || found < 20 {
		t.Errorf("%d of 24 spikes were found; the velocity is off by %.1f standard deviations, and by %.1f with all pixels", found, worst, worstKept)
	}
	if v := fits[4].Verdict; v.OK || v.Flags[0].Kind != KindEmission {
		t.Errorf("a narrow line: %v", v)
	}
	if v := fits[5].Verdict; v.OK || v.Flags[0].Kind != KindEmission || len(fits[5].Spikes) > 0 {
		t.Errorf("a wide line: %v, %v", v, fits[5].Spikes)
	}
	t.Log(fits[0].Verdict, fits[4].Verdict, fits[5].Verdict)
}
