// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// desiSize is a library of three arms at DESI's size, interpolated by networks of the reference's size with
// random weights, and stars of it with noise, which rotate as given or else at 5 to 65 km/s.
func desiSize(t testing.TB, count int, rotation ...float64) (*Library, []Star) {
	rng := rand.New(rand.NewPCG(1, 2))
	l := &Library{Params: []string{"teff", "logg", "feh", "alpha"}}
	points := make([]float64, 0, 4*16)
	for corner := range 16 {
		for k := range 4 {
			points = append(points, 3*float64(corner>>k&1)-1.5)
		}
	}
	stars := make([]Star, count)
	truth := make([][]float64, count)
	for i := range stars {
		truth[i] = []float64{300 * (rng.Float64() - 0.5), 5 + 60*rng.Float64(), 4000 + 3000*rng.Float64(), 4.5 - 2*rng.Float64(), -2 * rng.Float64(), 0.6 * rng.Float64()}
		if len(rotation) > 0 {
			truth[i][1] = rotation[0]
		}
		start := Start{Vel: truth[i][0] + 6*rng.NormFloat64(), Vsini: 20, Params: []float64{truth[i][2] + 150*rng.NormFloat64(), truth[i][3] + 0.25*rng.NormFloat64(), truth[i][4] + 0.2*rng.NormFloat64(), truth[i][5] + 0.1*rng.NormFloat64()}}
		stars[i] = Star{Name: fmt.Sprint("star ", i), Starts: []Start{start}}
	}
	for _, a := range []struct {
		name            string
		from, to, first float64
		pixels          int
	}{{"desi_b", 3500, 5900, 3600, 2751}, {"desi_r", 5660, 7720, 5760, 2326}, {"desi_z", 7420, 9924, 7520, 2881}} {
		const pad = 1 + 1000/spectra.SpeedOfLight
		var lam []float64
		for x, step := math.Log(a.from/pad), math.Log(1+0.4/((a.from+a.to)/2)); x < math.Log(a.to*pad); x += step {
			lam = append(lam, math.Exp(x))
		}
		var layers []Layer
		in := 4
		for i, out := range []int{256, 256, 256, 200, len(lam)} {
			y := Layer{In: in, Out: out, W: make([]float64, in*out), B: make([]float64, out)}
			size := 1 / math.Sqrt(float64(in))
			if i == 4 {
				size *= 0.3
			}
			for k := range y.W {
				y.W[k] = size * rng.NormFloat64()
			}
			for k := range y.B {
				y.B[k] = 0.1 * rng.NormFloat64()
			}
			layers, in = append(layers, y), out
		}
		n, err := NewNetwork([]float64{math.Log10(5500), 3, -1, 0.3}, []float64{0.1, 1, 1, 0.3}, layers, points)
		if err != nil {
			t.Fatal(err)
		}
		l.Arms = append(l.Arms, &Templates{Name: a.name, Lam: lam, Log: true, LogParams: []int{0}, Interpolator: n})
		obs := make([]float64, a.pixels)
		for i := range obs {
			obs[i] = a.first + 0.8*float64(i)
		}
		band := make([]float64, 11*a.pixels)
		for i := range band {
			x := float64(i/a.pixels - 5)
			band[i] = math.Exp(-x*x/1.5) / 2.17
		}
		resolution, err := spectra.NewResolution(5, a.pixels, band)
		if err != nil {
			t.Fatal(err)
		}
		arm, err := spectra.NewArm(spectra.ArmSettings{Template: lam, Observed: obs, Resolution: resolution})
		if err != nil {
			t.Fatal(err)
		}
		vel, vsini, u := ad.Input("vel", 1), ad.Input("vsini", 1), ad.Input("u", 1, 4)
		log, _ := l.Arms[len(l.Arms)-1].LogFlux(u)
		p, err := ad.Compile([]*ad.Node{arm.Model(log, vel, vsini, nil)}, ad.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		for i, x := range truth {
			s.Input(0)[0], s.Input(1)[0] = x[0], x[1]
			copy(s.Input(2), x[2:])
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			one := Spectrum{Arm: a.name, Lam: obs, Resolution: resolution}
			for k, m := range s.Output(0) {
				e := 0.03 + 0.01*rng.Float64()
				one.Flux, one.Err = append(one.Flux, (1+0.3*math.Sin(float64(k)/900))*m+e*rng.NormFloat64()), append(one.Err, e)
			}
			stars[i].Spectra = append(stars[i].Spectra, one)
		}
	}
	return l, stars
}

// BenchmarkFit measures whole fits of spectra at DESI's size with one thread, from starts some standard
// deviations away: the search, the exact Hessian with errors, and the posterior of the velocity.
func BenchmarkFit(b *testing.B) {
	l, stars := desiSize(b, 512)
	for _, batch := range []int{1, 16, 64, 512} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			f, err := NewFitter(l, Settings{Continuum: 10, Batch: batch, Threads: 1})
			if err != nil {
				b.Fatal(err)
			}
			some := stars[:max(64, batch)]
			if batch == 1 {
				some = stars[:8]
			}
			if _, err := f.Fit(context.Background(), some[:1]); err != nil { // compiles
				b.Fatal(err)
			}
			cpu, evaluations := peer.CPUTime(), 0
			for b.Loop() {
				fits, err := f.Fit(context.Background(), some)
				if err != nil {
					b.Fatal(err)
				}
				evaluations = 0
				for _, fit := range fits {
					if fit.Err != nil || !fit.Converged {
						b.Fatal(fit.Err, fit.Status)
					}
					evaluations += fit.Evaluations
				}
			}
			n := float64(b.N * len(some))
			b.ReportMetric((peer.CPUTime()-cpu)/n, "cpu_s/star")
			b.ReportMetric(b.Elapsed().Seconds()/n, "s/star")
			b.ReportMetric(float64(evaluations)/float64(len(some)), "evaluations/star")
			layout, err := f.layoutOf(&stars[0])
			if err != nil {
				b.Fatal(err)
			}
			search, _ := layout.search(0)
			describe, _ := layout.describe(0)
			b.ReportMetric(float64(search.Bytes())/float64(batch)/1e6+float64(describe.Bytes())/float64(layout.described())/1e6, "MB/star")
		})
	}
}

// BenchmarkRotation measures what the exact kernel of rotation and that of the reference cost whole fits, for stars whose rotation
// is near 0, which get profiles, and for others.
func BenchmarkRotation(b *testing.B) {
	for _, rotation := range []float64{2, 40} {
		l, stars := desiSize(b, 16, rotation)
		for kernel, compat := range map[string]bool{"exact": false, "compat": true} {
			b.Run(fmt.Sprintf("vsini=%g/kernel=%s", rotation, kernel), func(b *testing.B) {
				f, err := NewFitter(l, Settings{Continuum: 10, FixedContinuum: true, KeepSpikes: true, NoVerdict: true, Threads: 1, Rotation: spectra.Rotation{Compat: compat}})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := f.Fit(context.Background(), stars[:1]); err != nil { // compiles
					b.Fatal(err)
				}
				cpu, profiles := peer.CPUTime(), 0
				for b.Loop() {
					fits, err := f.Fit(context.Background(), stars)
					if err != nil {
						b.Fatal(err)
					}
					profiles = 0
					for _, fit := range fits {
						if fit.Rotation != nil {
							profiles++
						}
					}
				}
				b.ReportMetric((peer.CPUTime()-cpu)/float64(b.N*len(stars)), "cpu_s/star")
				b.ReportMetric(float64(profiles), "profiles")
			})
		}
	}
}

// BenchmarkFitSteps measures one step of the search at DESI's size with one thread, and how much of it is the
// networks' matrix products: those of the template and of its derivatives by four parameters.
func BenchmarkFitSteps(b *testing.B) {
	l, stars := desiSize(b, 1)
	flops := 0.0
	for _, a := range l.Arms {
		for _, y := range a.Interpolator.(*Network).Layers {
			flops += 2 * 5 * float64(y.In) * float64(y.Out)
		}
	}
	for _, batch := range []int{1, 16, 64, 512} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			f, err := NewFitter(l, Settings{Continuum: 10, Batch: batch, Threads: 1})
			if err != nil {
				b.Fatal(err)
			}
			layout, err := f.layoutOf(&stars[0])
			if err != nil {
				b.Fatal(err)
			}
			if err := layout.place(); err != nil {
				b.Fatal(err)
			}
			p, err := layout.search(0)
			if err != nil {
				b.Fatal(err)
			}
			s := newPlaces(layout, p)
			for i := range batch {
				if err := s.fill(i, &stars[0]); err != nil {
					b.Fatal(err)
				}
				s.set(i, append([]float64{10, 20}, stars[0].Starts[0].Params...))
			}
			products := networkProducts(b, l, batch)
			var step, product float64
			for _, run := range []func() error{s.run, products.Run} { // touches the memory
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				for _, x := range []struct {
					run func() error
					sum *float64
				}{{s.run, &step}, {products.Run, &product}} {
					cpu := peer.CPUTime()
					if err := x.run(); err != nil {
						b.Fatal(err)
					}
					*x.sum += peer.CPUTime() - cpu
				}
			}
			n := float64(b.N * batch)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(step/n*1e3, "cpu_ms/star")
			b.ReportMetric(100*product/step, "%products")
			b.ReportMetric(flops*n/product/1e9, "GFLOP/s")
		})
	}
}

// networkProducts is a program of the matrix products of the networks of a library alone, with numbers that
// are not those of a spectrum: five times as many rows as stars, for the template and four derivatives.
func networkProducts(b *testing.B, l *Library, batch int) *ad.State {
	x := ad.Input("x", 5*batch, l.Arms[0].Dim())
	var outs []*ad.Node
	for _, a := range l.Arms {
		y := x
		for _, layer := range a.Interpolator.(*Network).Layers {
			y = ad.MatMul(y, ad.T(ad.Const(layer.W, layer.Out, layer.In)))
		}
		outs = append(outs, y)
	}
	p, err := ad.Compile(outs, ad.Settings{Backend: ad.CPU{Threads: 1}})
	if err != nil {
		b.Fatal(err)
	}
	s := p.NewState()
	for i := range s.Input(0) {
		s.Input(0)[i] = math.Sin(float64(i))
	}
	return s
}
