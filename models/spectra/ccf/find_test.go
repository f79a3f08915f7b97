// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ccf

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/tensor"
)

var (
	smallEnds   = map[string][2]float64{"desi_b": {5000, 5400}, "desi_z": {8400, 8900}}
	smallPixels = map[string]int{"desi_b": 300, "desi_z": 280}
)

func small(t testing.TB) *Templates { return templatesLike(t, 12, 512, smallEnds) }

func smallStar(vel, sn float64, seed uint64) spectra.Star {
	return starLike(smallEnds, smallPixels, 1, vel, sn, seed)
}

// The default finds velocities between those of the grid, and the reference's step gets them wrong. What remains are
// differences between continua.
func TestVelocitiesAreRight(t *testing.T) {
	c := templatesLike(t, 8, 2048, smallEnds)
	var stars []spectra.Star
	var truth []float64
	for i := range 25 {
		truth = append(truth, -960+80.3*float64(i))
		stars = append(stars, starLike(smallEnds, map[string]int{"desi_b": 1000, "desi_z": 1000}, 1, truth[i], 1000, uint64(i)))
	}
	rms := map[bool]float64{}
	for _, compat := range []bool{false, true} {
		for i, g := range find(t, c, Settings{Compat: compat}, stars...) {
			if g.Err != nil {
				t.Fatal(g.Err)
			}
			rms[compat] += (g.Vel - truth[i]) * (g.Vel - truth[i]) / float64(len(stars))
		}
		rms[compat] = math.Sqrt(rms[compat])
	}
	t.Logf("root mean square of velocity errors: %.2g km/s, in compatibility with the reference %.2g", rms[false], rms[true])
	if rms[false] > 0.4 || rms[true] < 1.5*rms[false] {
		t.Errorf("root mean square of velocity errors: %.2g km/s, in compatibility with the reference %.2g", rms[false], rms[true])
	}
}

// noise returns an exposure of nothing but noise, with the wavelengths and errors of a spectrum.
func noise(s spectra.Spectrum, seed uint64) spectra.Spectrum {
	rng := rand.New(rand.NewPCG(seed, 9))
	flux := make([]float64, len(s.Flux))
	for i := range flux {
		flux[i] = s.Err[i] * rng.NormFloat64()
	}
	s.Flux = flux
	return s
}

// All exposures of an arm count: neither noise that comes last nor noise that comes first moves the velocity.
func TestExposureOfNoise(t *testing.T) {
	c := small(t)
	for _, keep := range []bool{false, true} {
		if keep {
			c = kept(t, c)
		}
		star := smallStar(231, 20, 1)
		want := find(t, c, Settings{}, star)[0]
		if want.Err != nil || math.Abs(want.Vel-231) > 5 {
			t.Fatalf("velocity %g (%v)", want.Vel, want.Err)
		}
		last := star
		last.Spectra = append(last.Spectra[:2:2], noise(star.Spectra[0], 1), noise(star.Spectra[1], 2))
		first := star
		first.Spectra = append([]spectra.Spectrum{noise(star.Spectra[0], 1), noise(star.Spectra[1], 2)}, star.Spectra...)
		for _, g := range find(t, c, Settings{}, last, first) {
			if g.Err != nil || math.Abs(g.Vel-want.Vel) > 2 || g.Arms[0].Exposures != 2 {
				t.Errorf("velocity %g, was %g without noise (%v)", g.Vel, want.Vel, g.Err)
			}
		}
	}
}

// Two exposures of half the time are as good as one.
func TestExposuresAddUp(t *testing.T) {
	c := small(t)
	one := smallStar(-310, 30, 4)
	two := one
	two.Spectra = append(append([]spectra.Spectrum{}, one.Spectra...), one.Spectra...)
	for _, templates := range []*Templates{c, kept(t, c)} {
		g := find(t, templates, Settings{}, one, two)
		if g[0].Err != nil || math.Abs(g[0].Vel-g[1].Vel) > 0.01 || math.Abs(g[1].ChiSquare-2*g[0].ChiSquare) > 1e-4*g[1].ChiSquare {
			t.Errorf("velocity %g and chi-square %g of one, %g and %g of two exposures", g[0].Vel, g[0].ChiSquare, g[1].Vel, g[1].ChiSquare)
		}
	}
}

// kept gives templates a continuum that is not divided out.
func kept(t testing.TB, c *Templates) *Templates {
	t.Helper()
	out := &Templates{names: c.names, params: c.params, vsini: c.vsini}
	for _, a := range c.arms {
		b := *a
		b.continuum, b.models = false, make([]float32, len(a.models))
		for i, v := range a.models {
			u := float32(i%a.points) / float32(a.points)
			b.models[i] = v * (1 + u - 0.8*u*u)
		}
		out.arms = append(out.arms, &b)
	}
	return out
}

// Templates without rotations count as not rotating.
func TestTemplatesWithoutRotations(t *testing.T) {
	points, err := tensor.From([]float64{1, 2}, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	lam := small(t).arms[0].lam
	models, err := tensor.From(append(lines(lam, 5006, 1, 40, 0), lines(lam, 77, 1, 40, 0)...), 2, 512)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewTemplates(&rvspecfit.CCF{Setup: "desi_b", Continuum: true, LogL0: math.Log(5000), LogL1: math.Log(5400), Points: 512, Step: 1500, ParNames: []string{"strength"}, Params: points, Models: models})
	if err != nil {
		t.Fatal(err)
	}
	if p, vsini := c.Params(1); p[0] != 2 || vsini != 0 || c.Len() != 2 || !reflect.DeepEqual(c.Arms(), []string{"desi_b"}) || !reflect.DeepEqual(c.Names(), []string{"strength"}) {
		t.Errorf("template 1 of %d has %v and rotation %g; arms %v, parameters %v", c.Len(), p, vsini, c.Arms(), c.Names())
	}
	star := smallStar(150, 20, 1)
	star.Spectra = star.Spectra[:1]
	g := find(t, c, Settings{}, star)[0]
	if g.Err != nil || g.Vsini != 0 || g.Template != 0 || math.Abs(g.Vel-150) > 3 {
		t.Errorf("template %d at %g km/s, rotation %g (%v)", g.Template, g.Vel, g.Vsini, g.Err)
	}
}

// Guesses are the same bits for any number of threads, in any company and at any place in it.
func TestGuessesDoNotDependOnCompany(t *testing.T) {
	c := small(t)
	var stars []spectra.Star
	for i := range 21 {
		s := smallStar(40*float64(i)-400, 10, uint64(i))
		if i%4 == 1 {
			s.Spectra = s.Spectra[:1]
		}
		if i%5 == 2 {
			s.Spectra[0].Flux = make([]float64, len(s.Spectra[0].Flux)) // useless
		}
		if i == 8 {
			s.Spectra[0].Err[5] = 1e-200 // whose chi-square is infinite
		}
		stars = append(stars, s)
	}
	want := find(t, c, Settings{Threads: 1}, stars...)
	if want[8].Err == nil || want[9].Err != nil {
		t.Errorf("errors %v and %v", want[8].Err, want[9].Err)
	}
	if got := find(t, c, Settings{Threads: 3}, stars...); !reflect.DeepEqual(got, want) {
		t.Error("three threads change the guesses")
	}
	turned := append(append([]spectra.Star{}, stars[5:]...), stars[:5]...)
	for i, g := range find(t, c, Settings{}, turned...) {
		if !reflect.DeepEqual(g, want[(i+5)%len(stars)]) {
			t.Errorf("star %d changes with its place", (i+5)%len(stars))
		}
	}
	f, err := New(c, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	parallel.Do(2, len(stars), func(_, i int) {
		got, err := f.Find(context.Background(), stars[i:i+1])
		if err != nil || !reflect.DeepEqual(got[0], want[i]) {
			t.Errorf("star %d alone is at %g km/s (%v), in company at %g", i, got[0].Vel, err, want[i].Vel)
		}
	})
}

// A star beyond the range of velocities is at its end, and one at the end is found.
func TestEndsOfTheRange(t *testing.T) {
	c := small(t)
	for _, k := range []struct{ vel, want float64 }{{320, 300}, {-220, -200}, {300, 300}, {-200, -200}, {298, 298}} {
		g := find(t, c, Settings{MinVel: -200, MaxVel: 300}, smallStar(k.vel, 50, 1))[0]
		if g.Err != nil || math.Abs(g.Vel-k.want) > 3 || g.Vel < -200 || g.Vel > 300 {
			t.Errorf("a star at %g km/s is at %g (%v)", k.vel, g.Vel, g.Err)
		}
	}
}

// Pixels that cannot be used do not count, whatever says so.
func TestUselessPixels(t *testing.T) {
	c := small(t)
	clean := find(t, c, Settings{}, smallStar(120, 40, 1))[0]
	for name, spoil := range map[string]func(s *spectra.Spectrum, i int){
		"NaN flux":       func(s *spectra.Spectrum, i int) { s.Flux[i] = math.NaN() },
		"infinite flux":  func(s *spectra.Spectrum, i int) { s.Flux[i] = math.Inf(-1) },
		"zero error":     func(s *spectra.Spectrum, i int) { s.Err[i] = 0 },
		"negative error": func(s *spectra.Spectrum, i int) { s.Err[i] = -1 },
		"NaN error":      func(s *spectra.Spectrum, i int) { s.Err[i] = math.NaN() },
		"infinite error": func(s *spectra.Spectrum, i int) { s.Err[i] = math.Inf(1) },
		"large error":    func(s *spectra.Spectrum, i int) { s.Flux[i], s.Err[i] = 1e5, 1e4 },
		"mask":           func(s *spectra.Spectrum, i int) { s.Flux[i], s.Bad[i] = 1e5, true },
		"negative flux":  func(s *spectra.Spectrum, i int) { s.Flux[i] = -100 },
	} {
		star := smallStar(120, 40, 1)
		for k := range star.Spectra {
			s := &star.Spectra[k]
			s.Bad = make([]bool, len(s.Flux))
			for i := 100; i < 140; i++ {
				spoil(s, i)
			}
			spoil(s, 0)
			spoil(s, len(s.Flux)-1)
		}
		g := find(t, c, Settings{}, star)[0]
		if g.Err != nil || math.Abs(g.Vel-clean.Vel) > 2 || g.Pixels >= clean.Pixels-50 {
			t.Errorf("%s: velocity %g with %d pixels, want %g, with about 100 less than %d (%v)", name, g.Vel, g.Pixels, clean.Vel, clean.Pixels, g.Err)
		}
	}
}

// An arm without data leaves the guess to the other; a star without any has an error, and the others have none.
func TestUselessSpectra(t *testing.T) {
	c := small(t)
	masked := func(s spectra.Spectrum) spectra.Spectrum {
		s.Bad = make([]bool, len(s.Flux))
		for i := range s.Bad {
			s.Bad[i] = true
		}
		return s
	}
	good, half, none := smallStar(70, 30, 1), smallStar(70, 30, 1), smallStar(70, 30, 1)
	half.Spectra[0] = masked(half.Spectra[0])
	none.Spectra[0], none.Spectra[1] = masked(none.Spectra[0]), masked(none.Spectra[1])
	empty, unknown, torn, elsewhere, dark := spectra.Star{Name: "empty"}, smallStar(70, 30, 1), smallStar(70, 30, 1), smallStar(70, 30, 1), smallStar(70, 30, 1)
	unknown.Spectra[1].Arm = "weave_red"
	torn.Spectra[0].Err = torn.Spectra[0].Err[1:]
	for k := range elsewhere.Spectra {
		for i := range elsewhere.Spectra[k].Lam {
			elsewhere.Spectra[k].Lam[i] += 5000
		}
		for i := range dark.Spectra[k].Flux {
			dark.Spectra[k].Flux[i] = -dark.Spectra[k].Flux[i]
		}
	}
	turned, bright := smallStar(70, 30, 1), smallStar(70, 30, 1)
	for k := range bright.Spectra {
		bright.Spectra[k] = masked(bright.Spectra[k]) // as a reader leaves pixels whose inverse variance is 0
		for i := range bright.Spectra[k].Flux {
			bright.Spectra[k].Flux[i] *= 1e250
			bright.Spectra[k].Err[i] *= 1e250
		}
	}
	turned.Spectra[0].Lam[3] = turned.Spectra[0].Lam[2]
	g := find(t, c, Settings{}, good, half, none, empty, unknown, torn, elsewhere, dark, turned, bright)
	for i, want := range []string{"", "", "good pixels", "no spectra", `no templates for arm "weave_red", only for [desi_b desi_z]`, "as many of each", "good pixels", "are below 0", "ascending", "scale fluxes"} {
		if want == "" {
			if g[i].Err != nil || math.Abs(g[i].Vel-70) > 3 {
				t.Errorf("star %d is at %g km/s: %v", i, g[i].Vel, g[i].Err)
			}
		} else if g[i].Err == nil || !strings.Contains(g[i].Err.Error(), want) || g[i].Starts != nil {
			t.Errorf("star %d: %v, want an error with %q", i, g[i].Err, want)
		}
	}
	if len(g[1].Arms) != 1 || g[1].Arms[0].Arm != "desi_z" {
		t.Errorf("arms of a star with one: %v", g[1].Arms)
	}
}

// Fluxes of any size, and data that say nothing, give finite guesses or an error.
func TestExtremeNumbers(t *testing.T) {
	for _, c := range []*Templates{small(t), kept(t, small(t))} {
		for _, scale := range []float64{1e-17, 1e-30, 1e30} {
			star := smallStar(70, 30, 1)
			for k := range star.Spectra {
				for i := range star.Spectra[k].Flux {
					star.Spectra[k].Flux[i] *= scale
					star.Spectra[k].Err[i] *= scale
				}
			}
			if g := find(t, c, Settings{}, star)[0]; g.Err != nil || math.Abs(g.Vel-70) > 3 {
				t.Errorf("times %g: %g km/s (%v)", scale, g.Vel, g.Err)
			}
		}
		for name, spoil := range map[string]func(s *spectra.Spectrum, i int){
			"constant":    func(s *spectra.Spectrum, i int) { s.Flux[i] = 1 },
			"tiny errors": func(s *spectra.Spectrum, i int) { s.Err[i] = 1e-200 },
			"one spike": func(s *spectra.Spectrum, i int) {
				if s.Flux[i] = 1; i == 77 {
					s.Flux[i] = 1e30
				}
			},
			"alternating": func(s *spectra.Spectrum, i int) { s.Flux[i] *= float64(1 - 2*(i&1)) },
			"steep":       func(s *spectra.Spectrum, i int) { s.Flux[i] = math.Exp(float64(i)); s.Err[i] = s.Flux[i] / 10 },
		} {
			star := smallStar(70, 30, 1)
			for k := range star.Spectra {
				for i := range star.Spectra[k].Flux {
					spoil(&star.Spectra[k], i)
				}
			}
			if g := find(t, c, Settings{}, star)[0]; g.Err == nil && !(math.Abs(g.Vel) <= 1000 && !math.IsNaN(g.ChiSquare)) {
				t.Errorf("%s: %g km/s, chi-square %g", name, g.Vel, g.ChiSquare)
			}
		}
	}
}

// Starts are distinct, the best first, and in the order of the parameters that is asked for.
func TestStarts(t *testing.T) {
	c := small(t)
	for _, count := range []int{1, 2, 3, 6, 100} {
		for _, sn := range []float64{0.5, 30} {
			g := find(t, c, Settings{Starts: count}, smallStar(-40, sn, 3))[0]
			if g.Err != nil || len(g.Starts) > count || len(g.Starts) < min(count, 6) {
				t.Fatalf("%d starts of %d (%v)", len(g.Starts), count, g.Err)
			}
			if s := g.Starts[0]; s.Vel != g.Vel || s.Vsini != g.Vsini || !reflect.DeepEqual(s.Params, g.Params) {
				t.Errorf("first start %v, best %g, %g, %v", s, g.Vel, g.Vsini, g.Params)
			}
			elsewhere := 0
			for i, a := range g.Starts {
				for _, b := range g.Starts[:i] {
					if math.Abs(a.Vel-b.Vel) < apart-10 && a.Params[0] == b.Params[0] {
						t.Errorf("starts %v and %v", a, b)
					}
				}
				if math.Abs(a.Vel-g.Vel) > apart {
					elsewhere++
				}
			}
			if count >= 3 && count <= 6 && (elsewhere > 0) != (sn < 1) {
				t.Errorf("%d of %d starts at other velocities, with a signal of %g times the noise", elsewhere, count, sn)
			}
		}
	}
	two := &Templates{arms: c.arms, names: []string{"teff", "logg"}, vsini: c.vsini}
	for _, p := range c.params {
		two.params = append(two.params, []float64{p[0], -p[0]})
	}
	f, err := New(two, Settings{Params: []string{"logg", "teff"}})
	if err != nil || !reflect.DeepEqual(f.Names(), []string{"logg", "teff"}) {
		t.Fatalf("names %v (%v)", f.Names(), err)
	}
	g := find(t, two, Settings{Params: []string{"logg", "teff"}}, smallStar(-40, 30, 3))[0]
	if g.Params[0] != -g.Params[1] || g.Params[1] <= 0 {
		t.Errorf("parameters %v", g.Params)
	}
	if _, err := New(two, Settings{Params: []string{"logg", "feh"}}); err == nil || !strings.Contains(err.Error(), "feh") {
		t.Error(err)
	}
}

// Curves of arms add up to that of all, whose least value is chi-square.
func TestCurvesAddUp(t *testing.T) {
	f, err := New(small(t), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := f.Find(context.Background(), []spectra.Star{smallStar(500, 20, 1)})
	if err != nil {
		t.Fatal(err)
	}
	g := all[0]
	least := math.Inf(1)
	for v := range f.Velocities() {
		if d := g.Arms[0].Curve[v] + g.Arms[1].Curve[v] - g.Curve[v]; math.Abs(d) > 1e-9*g.Curve[v] {
			t.Fatalf("arms at velocity %d are off by %g", v, d)
		}
		least = min(least, g.Curve[v])
	}
	if math.Abs(least-g.ChiSquare) > 1e-9*least || least > 2*float64(g.Pixels) || least < 0.1*float64(g.Pixels) {
		t.Errorf("least value %g, chi-square %g, %d pixels", least, g.ChiSquare, g.Pixels)
	}
}

// Correlations are the sums of their definition, with either kind of templates, and beyond the templates' ends.
func TestCorrelationsAreSums(t *testing.T) {
	for _, c := range []*Templates{small(t), kept(t, small(t))} {
		for _, s := range []Settings{{}, {Compat: true, MinVel: -900, MaxVel: -100}} {
			f, err := New(c, s)
			if err != nil {
				t.Fatal(err)
			}
			k := f.correlators[0]
			rng := rand.New(rand.NewPCG(3, 4))
			r := row{x: make([]float64, 512), y: make([]float64, 512)}
			for i := range r.x {
				r.x[i], r.y[i] = rng.NormFloat64(), 1+rng.Float64()
			}
			state, _, err := k.state(0, nil)
			if err != nil {
				t.Fatal(err)
			}
			k.put(state.Input32(0), 2, 0, r.x, 1)
			k.put(state.Input32(0), 2, 1, r.y, 1)
			if err := state.Run(); err != nil {
				t.Fatal(err)
			}
			const template = 5
			out := state.Output32(0)
			for n := k.lo; n <= k.hi; n++ {
				var x, y float64
				for j := range r.x {
					v := k.value(c.arms[0].models[template*512:][:512], j-n, s.Compat)
					level := k.levels[template]
					x += r.x[j] * (v - level)
					if c.arms[0].continuum {
						y += r.y[j] * (v - level) * (v - level)
					} else {
						y += r.y[j] * (v*v - level*level)
					}
				}
				at := (k.hi-n)*k.rows*c.Len() + 2*c.Len() + template
				got, want := float64(out[at]), x+y
				if !c.arms[0].continuum {
					want = x
					if other := float64(out[k.lags()*k.rows*c.Len()+at]); math.Abs(other-y) > 1e-4*512 {
						t.Fatalf("lag %d: sum with squares %g, want %g", n, other, y)
					}
				}
				if math.Abs(got-want) > 1e-4*512 {
					t.Fatalf("lag %d: %g, want %g", n, got, want)
				}
			}
		}
	}
}

// What cannot work is refused with all reasons.
func TestBadSettings(t *testing.T) {
	c := small(t)
	for want, s := range map[string]Settings{
		"ascending":      {MinVel: 10, MaxVel: -10},
		"slower than":    {MinVel: 0, MaxVel: 3e5},
		"step is 600":    {Step: 600, MinVel: -500, MaxVel: 500},
		"step is -5":     {Step: -5},
		"step is 1e-09":  {Step: 1e-9},
		"Starts is -1":   {Starts: -1, Batch: -2},
		"Batch is -2":    {Starts: -1, Batch: -2},
		"narrower range": {MinVel: -100000, MaxVel: 100000, Step: 1000},
	} {
		if _, err := New(c, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	if _, err := New(nil, Settings{}); err == nil {
		t.Error("no templates")
	}
	if _, err := NewTemplates(); err == nil {
		t.Error("no arms")
	}
}

// A search that is cancelled says so for the stars that it did not come to.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f, err := New(small(t), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := f.Find(ctx, []spectra.Star{smallStar(0, 10, 1)})
	if !errors.Is(err, context.Canceled) || !errors.Is(g[0].Err, context.Canceled) {
		t.Errorf("%v, %v", err, g[0].Err)
	}
	if g, err := f.Find(context.Background(), nil); err != nil || len(g) != 0 {
		t.Errorf("no stars: %v, %v", g, err)
	}
}
