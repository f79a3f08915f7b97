package ccf

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/models/spectra"
	sim "github.com/euryale-dev/euryale/sim/spectra"
	"github.com/euryale-dev/euryale/tensor"
)

// small is a set of templates with lines at random places, of one arm.
func small(t testing.TB, setup string, first, last float64, points, count int) *rvspecfit.CCF {
	rng := rand.New(rand.NewPCG(7, uint64(points)))
	c := &rvspecfit.CCF{Setup: setup, Continuum: true, LogL0: math.Log(first), LogL1: math.Log(last), Points: points, Step: 8000, ParNames: []string{"teff", "feh"}}
	lam := sim.LogGrid{First: c.LogL0, Last: c.LogL1, N: points}.Wavelengths()
	type line struct{ at, width, depth, slope float64 }
	lines := make([]line, 60)
	for i := range lines {
		lines[i] = line{first + (last-first)*rng.Float64(), 1 + 2*rng.Float64(), 0.6 * rng.Float64(), rng.NormFloat64()}
	}
	models, params := make([]float32, count*points), make([]float64, 2*count)
	for i := range count {
		params[2*i], params[2*i+1] = 4000+100*float64(i), float64(i%3)
		for k, x := range lam {
			v := 1.0
			for _, l := range lines {
				v -= l.depth / (1 + math.Exp(l.slope*(float64(i)/float64(count)-0.5)*4)) * math.Exp(-(x-l.at)*(x-l.at)/(2*l.width*l.width))
			}
			models[i*points+k] = float32(max(v, 0.05))
		}
	}
	c.Params = must[*tensor.Tensor](t)(tensor.From(params, count, 2))
	c.Models = must[*tensor.Tensor](t)(tensor.From(models, count, points))
	return c
}

// seenAt is a spectrum of a template with a velocity, a continuum and noise.
func seenAt(c *rvspecfit.CCF, i int, vel, sn float64, pixels int, rng *rand.Rand) spectra.Spectrum {
	s := spectra.Spectrum{Arm: c.Setup, Lam: make([]float64, pixels), Flux: make([]float64, pixels), Err: make([]float64, pixels), Bad: make([]bool, pixels)}
	first, last := math.Exp(c.LogL0)*1.01, math.Exp(c.LogL1)/1.01
	models := c.Models.Float64s()[i*c.Points : (i+1)*c.Points]
	step := (c.LogL1 - c.LogL0) / float64(c.Points-1)
	for k := range s.Lam {
		s.Lam[k] = first + (last-first)*float64(k)/float64(pixels-1)
		at := (math.Log(s.Lam[k]) - math.Atanh(vel/sim.SpeedOfLight) - c.LogL0) / step
		j := int(at)
		v := models[j] + (at-float64(j))*(models[j+1]-models[j])
		cont := 100 * (1 + 0.3*math.Sin(s.Lam[k]/400))
		s.Err[k] = cont / sn
		s.Flux[k] = cont*v + s.Err[k]*rng.NormFloat64()
	}
	return s
}

func TestAnExposureOfNoiseMovesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := small(t, "b", 4000, 5000, 4096, 12)
	f := must[*Finder](t)(New([]*rvspecfit.CCF{c}, Settings{}))
	good := seenAt(c, 5, 55, 30, 2000, rng)
	noise := seenAt(c, 5, 55, 1e-3, 2000, rng)
	for _, stars := range [][]spectra.Spectrum{{good}, {good, noise}, {noise, good}} {
		g := must[[]Guess](t)(f.Find(context.Background(), []spectra.Star{{Spectra: stars}}))[0]
		if g.Err != nil || math.Abs(g.Starts[0].Vel-55) > 3 || g.Template != 5 {
			t.Errorf("%d exposures: template %d, %+v, %v", len(stars), g.Template, g.Starts, g.Err)
		}
	}
	// Two exposures tell more than one.
	weak := func(n int) (sum float64) {
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 3))
			var list []spectra.Spectrum
			for range n {
				list = append(list, seenAt(c, 5, -120, 2.5, 2000, rng))
			}
			g := must[[]Guess](t)(f.Find(context.Background(), []spectra.Star{{Spectra: list}}))[0]
			sum += min(math.Abs(g.Starts[0].Vel+120), 100)
		}
		return sum / 20
	}
	if one, nine := weak(1), weak(9); nine > one/2 {
		t.Errorf("mean error of the velocity: %g km/s with one exposure, %g with nine", one, nine)
	}
}

// Velocities come out right: the reference's pixels are too narrow.
func TestVelocities(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	c := small(t, "b", 4000, 5000, 4096, 4)
	f := must[*Finder](t)(New([]*rvspecfit.CCF{c}, Settings{}))
	for _, vel := range []float64{-950, -400, -3, 0, 12.5, 777} {
		g := must[[]Guess](t)(f.Find(context.Background(), []spectra.Star{{Spectra: []spectra.Spectrum{seenAt(c, 1, vel, 300, 3000, rng)}}}))[0]
		if g.Err != nil || math.Abs(g.Starts[0].Vel-vel) > 1 {
			t.Errorf("%g km/s: %+v, %v", vel, g.Starts, g.Err)
		}
	}
	narrow := must[*Finder](t)(New([]*rvspecfit.CCF{c}, Settings{MinVel: 100, MaxVel: 400}))
	g := must[[]Guess](t)(narrow.Find(context.Background(), []spectra.Star{{Spectra: []spectra.Spectrum{seenAt(c, 1, -200, 300, 3000, rng)}}}))[0]
	if g.Err != nil || g.Starts[0].Vel < 95 || g.Starts[0].Vel > 405 {
		t.Errorf("a star out of range is at %+v, %v", g.Starts, g.Err)
	}
}

// Guesses do not depend on the company of a star or on threads.
func TestGuessesAreTheSameInAnyCompany(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 5))
	c := small(t, "b", 4000, 5000, 2048, 6)
	var stars []spectra.Star
	for i := range 21 {
		stars = append(stars, spectra.Star{Spectra: []spectra.Spectrum{seenAt(c, i%6, 300*(rng.Float64()-0.5), 5, 1000, rng)}})
	}
	all := must[[]Guess](t)(must[*Finder](t)(New([]*rvspecfit.CCF{c}, Settings{Threads: 3})).Find(context.Background(), stars))
	alone := must[*Finder](t)(New([]*rvspecfit.CCF{c}, Settings{Threads: 1}))
	for i := range stars {
		g := must[[]Guess](t)(alone.Find(context.Background(), stars[i:i+1]))[0]
		if g.Starts[0].Vel != all[i].Starts[0].Vel || g.Template != all[i].Template {
			t.Errorf("star %d: %v alone, %v in company", i, g.Starts[0], all[i].Starts[0])
		}
	}
}

func TestBadSpectra(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	c := small(t, "b", 4000, 5000, 2048, 6)
	f := must[*Finder](t)(New([]*rvspecfit.CCF{c}, Settings{}))
	change := func(name string, says string, do func(s *spectra.Spectrum)) {
		s := seenAt(c, 2, 30, 20, 1000, rng)
		do(&s)
		good := seenAt(c, 3, -40, 20, 1000, rng)
		g := must[[]Guess](t)(f.Find(context.Background(), []spectra.Star{{Name: "bad star", Spectra: []spectra.Spectrum{s}}, {Spectra: []spectra.Spectrum{good}}}))
		switch {
		case g[1].Err != nil || g[1].Template != 3:
			t.Errorf("%s: the other star: %+v", name, g[1].Err)
		case says == "" && (g[0].Err != nil || math.IsNaN(g[0].Starts[0].Vel)):
			t.Errorf("%s: %v", name, g[0].Err)
		case says != "" && (g[0].Err == nil || !strings.Contains(g[0].Err.Error(), says)):
			t.Errorf("%s: %v: want %q", name, g[0].Err, says)
		}
	}
	each := func(do func(s *spectra.Spectrum, i int)) func(s *spectra.Spectrum) {
		return func(s *spectra.Spectrum) {
			for i := range s.Lam {
				do(s, i)
			}
		}
	}
	change("all marked", "no pixel", each(func(s *spectra.Spectrum, i int) { s.Bad[i] = true }))
	change("all NaN", "no pixel", each(func(s *spectra.Spectrum, i int) { s.Flux[i] = math.NaN() }))
	change("all negative", "no pixel", each(func(s *spectra.Spectrum, i int) { s.Flux[i] = -5 }))
	change("errors of 0", "no pixel", each(func(s *spectra.Spectrum, i int) { s.Err[i] = 0 }))
	change("a third NaN", "", each(func(s *spectra.Spectrum, i int) {
		if i%3 == 0 {
			s.Flux[i] = math.NaN()
		}
	}))
	change("half marked", "", each(func(s *spectra.Spectrum, i int) { s.Bad[i] = i < 500 }))
	change("a spike", "", func(s *spectra.Spectrum) { s.Flux[100] = 1e30 })
	change("infinite", "", func(s *spectra.Spectrum) { s.Flux[100], s.Err[200] = math.Inf(1), math.Inf(1) })
	change("tiny", "", each(func(s *spectra.Spectrum, i int) { s.Flux[i] *= 1e-30; s.Err[i] *= 1e-30 }))
	change("huge", "", each(func(s *spectra.Spectrum, i int) { s.Flux[i] *= 1e30; s.Err[i] *= 1e30 }))
	change("few pixels", "at least 4", func(s *spectra.Spectrum) { s.Lam, s.Flux, s.Err, s.Bad = s.Lam[:3], s.Flux[:3], s.Err[:3], s.Bad[:3] })
	change("unlike lengths", "as many", func(s *spectra.Spectrum) { s.Err = s.Err[:10] })
	change("descending", "ascending", func(s *spectra.Spectrum) { s.Lam[5] = s.Lam[3] })
	change("another arm", "no templates of arm z", func(s *spectra.Spectrum) { s.Arm = "z" })
	change("elsewhere", "", each(func(s *spectra.Spectrum, i int) { s.Lam[i] += 5000 })) // nothing overlaps: all velocities are as good
}

func TestBadTemplates(t *testing.T) {
	for says, do := range map[string]func(c *rvspecfit.CCF) Settings{
		"ccfmod_":   func(c *rvspecfit.CCF) Settings { c.Models = nil; return Settings{} },
		"ascending": func(c *rvspecfit.CCF) Settings { return Settings{MinVel: 5, MaxVel: -5} },
		"pixels":    func(c *rvspecfit.CCF) Settings { return Settings{MinVel: -90000, MaxVel: 90000} },
		"at least":  func(c *rvspecfit.CCF) Settings { return Settings{Starts: -1} },
		"two":       func(c *rvspecfit.CCF) Settings { return Settings{Step: 5000} },
	} {
		c := small(t, "b", 4000, 5000, 512, 3)
		if _, err := New([]*rvspecfit.CCF{c}, do(c)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: want %q", err, says)
		}
	}
	a, b := small(t, "a", 4000, 5000, 512, 3), small(t, "b", 5000, 6000, 512, 4)
	if _, err := New([]*rvspecfit.CCF{a, b}, Settings{}); err == nil || !strings.Contains(err.Error(), "same stars") {
		t.Error(err)
	}
	if _, err := New(nil, Settings{}); err == nil {
		t.Error("no templates are taken")
	}
	// Templates of which nobody says how fast they rotate do not.
	if f := must[*Finder](t)(New([]*rvspecfit.CCF{a}, Settings{})); f.vsini[0] != 0 {
		t.Error(f.vsini)
	}
}

func BenchmarkFind(b *testing.B) {
	rng := rand.New(rand.NewPCG(6, 5))
	var list []*rvspecfit.CCF
	stars := make([]spectra.Star, 16)
	for _, a := range []struct {
		name        string
		first, last float64
		pixels      int
	}{{"desi_b", 3500, 5900, 2751}, {"desi_r", 5660, 7720, 2326}, {"desi_z", 7420, 9924, 2881}} {
		c := small(b, a.name, a.first, a.last, 8192, 400)
		list = append(list, c)
		for i := range stars {
			stars[i].Spectra = append(stars[i].Spectra, seenAt(c, i, 20, 20, a.pixels, rng))
		}
	}
	f := must[*Finder](b)(New(list, Settings{Threads: 1}))
	for b.Loop() {
		for _, g := range must[[]Guess](b)(f.Find(context.Background(), stars)) {
			if g.Err != nil {
				b.Fatal(g.Err)
			}
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N*len(stars)), "ms/star")
}
