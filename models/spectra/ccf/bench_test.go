// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ccf

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/tensor"
)

// lines returns a spectrum with a continuum of 1 and Gaussian absorption lines, of some width (km/s), at random places
// that are the same for a seed, moved by a velocity (km/s). strength scales the depths, which also depend on the line.
func lines(lam []float64, seed uint64, strength, width, vel float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]float64, len(lam))
	for i := range out {
		out[i] = 1
	}
	first, last := lam[0], lam[len(lam)-1]
	shift := math.Exp(math.Atanh(vel / 299792.458))
	for range 60 {
		at := (first + (last-first)*rng.Float64()) * shift
		depth, sigma := 0.6*rng.Float64()*math.Pow(rng.Float64(), strength), at*width/299792.458
		for i, x := range lam {
			if d := (x - at) / sigma; math.Abs(d) < 6 {
				out[i] *= 1 - depth*math.Exp(-d*d/2)
			}
		}
	}
	return out
}

// templatesLike makes templates of lines for arms from first to last Angstrom, by strength and width of the lines.
func templatesLike(t testing.TB, count, points int, ends map[string][2]float64) *Templates {
	t.Helper()
	var list []*rvspecfit.CCF
	for _, name := range []string{"desi_b", "desi_r", "desi_z"} {
		e, ok := ends[name]
		if !ok {
			continue
		}
		c := &rvspecfit.CCF{Setup: name, Continuum: true, LogL0: math.Log(e[0]), LogL1: math.Log(e[1]), Points: points, Nodes: 20, ParNames: []string{"strength"}}
		c.Step = nodeStep(c.LogL0, c.LogL1, 20)
		lam := make([]float64, points)
		for i := range lam {
			lam[i] = math.Exp(c.LogL0 + (c.LogL1-c.LogL0)*float64(i)/float64(points-1))
		}
		models, params := make([]float32, 0, count*points), make([]float64, count)
		for k := range count {
			params[k] = 4 * float64(k/2) / float64(count)
			width := []float64{40, 120}[k%2]
			c.VSini = append(c.VSini, []float64{0, 100}[k%2])
			models = append(models, float32s(lines(lam, uint64(len(name)+int(e[0])), params[k], width, 0))...)
		}
		var err error
		if c.Params, err = tensor.From(params, count, 1); err != nil {
			t.Fatal(err)
		}
		if c.Models, err = tensor.From(models, count, points); err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	out, err := NewTemplates(list...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var desiEnds = map[string][2]float64{"desi_b": {3500, 5900}, "desi_r": {5660, 7720}, "desi_z": {7420, 9924}}

// starLike makes a star of the lines of templatesLike, with a bent continuum and noise.
func starLike(ends map[string][2]float64, pixels map[string]int, strength, vel, sn float64, seed uint64) spectra.Star {
	rng := rand.New(rand.NewPCG(seed, 2))
	star := spectra.Star{Name: fmt.Sprint("star ", seed)}
	for _, name := range []string{"desi_b", "desi_r", "desi_z"} {
		e, ok := ends[name]
		if !ok {
			continue
		}
		n := pixels[name]
		s := spectra.Spectrum{Arm: name, Lam: make([]float64, n), Err: make([]float64, n)}
		for i := range n {
			s.Lam[i] = e[0] + 60 + (e[1]-e[0]-120)*float64(i)/float64(n-1)
		}
		// The lines are drawn in the range of the templates.
		fine := make([]float64, 4*n)
		for i := range fine {
			fine[i] = e[0] + (e[1]-e[0])*float64(i)/float64(4*n-1)
		}
		flux := lines(fine, uint64(len(name)+int(e[0])), strength, 40, vel)
		s.Flux = make([]float64, n)
		for i, x := range s.Lam {
			at := (x - e[0]) / (fine[1] - fine[0])
			k := int(at)
			u := float64(i) / float64(n)
			level := 100 * (1 + u - 0.8*u*u)
			s.Err[i] = level / sn
			s.Flux[i] = level*(flux[k]+(at-float64(k))*(flux[k+1]-flux[k])) + s.Err[i]*rng.NormFloat64()
		}
		star.Spectra = append(star.Spectra, s)
	}
	return star
}

var desiPixels = map[string]int{"desi_b": 2751, "desi_r": 2326, "desi_z": 2881}

// BenchmarkFind guesses for stars with spectra of DESI's size, with 400 templates of 8192 pixels.
func BenchmarkFind(b *testing.B) {
	t := templatesLike(b, 400, 8192, desiEnds)
	stars := make([]spectra.Star, 16)
	for i := range stars {
		stars[i] = starLike(desiEnds, desiPixels, 1, float64(100*(i%16)-800), 20, uint64(i))
	}
	f, err := New(t, Settings{Threads: 1, Batch: len(stars)})
	if err != nil {
		b.Fatal(err)
	}
	w := f.newWorker()
	guesses := make([]Guess, len(stars))
	for b.Loop() {
		if err := w.find(context.Background(), stars, guesses); err != nil {
			b.Fatal(err)
		}
	}
	for i, g := range guesses {
		if g.Err != nil || math.Abs(g.Vel-float64(100*(i%16)-800)) > 5 {
			b.Errorf("star %d is at %g km/s (%v)", i, g.Vel, g.Err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N*len(stars))*1e3, "ms/star")
}

// BenchmarkPrepare is the part of it that brings spectra to the templates' pixels.
func BenchmarkPrepare(b *testing.B) {
	t := templatesLike(b, 2, 8192, desiEnds)
	star := starLike(desiEnds, desiPixels, 1, 100, 20, 1)
	for b.Loop() {
		for k := range star.Spectra {
			if _, err := t.find(star.Spectra[k].Arm).prepare(&star.Spectra[k]); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e3, "ms/star")
}
