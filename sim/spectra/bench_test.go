// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// desiArm is one arm at DESI's size: the template's range and the observed wavelengths.
type desiArm struct {
	name     string
	from, to float64 // template, before padding
	first    float64 // observed
	pixels   int
}

var desi = []desiArm{{"b", 3500, 5900, 3600, 2751}, {"r", 5660, 7720, 5760, 2326}, {"z", 7420, 9924, 7520, 2881}}

// templateGrid is the reference's logarithmic grid of step 0.4 Angstrom, padded by 1000 km/s.
func (a desiArm) templateGrid() []float64 {
	const pad = 1 + 1000/spectra.SpeedOfLight
	step := math.Log(1 + 0.4/((a.from+a.to)/2))
	var lam []float64
	for i := 0; ; i++ {
		x := math.Log(a.from/pad) + float64(i)*step
		if x >= math.Log(a.to*pad) {
			return lam
		}
		lam = append(lam, math.Exp(x))
	}
}

func (a desiArm) observed() []float64 {
	lam := make([]float64, a.pixels)
	for i := range lam {
		lam[i] = a.first + 0.8*float64(i)
	}
	return lam
}

// network is the graph of a network of the reference's size with random weights: u to n logarithms near 0.
func network(u *ad.Node, n int, rng *rand.Rand) *ad.Node {
	x := u
	for i, w := range []int{256, 256, 256, 200, n} {
		in := x.Shape()[len(x.Shape())-1]
		m, b := make([]float64, in*w), make([]float64, w)
		for k := range m {
			m[k] = rng.NormFloat64() / math.Sqrt(float64(in))
		}
		for k := range b {
			b[k] = 0.1 * rng.NormFloat64()
		}
		x = ad.Add(ad.MatMul(x, ad.Const(m, in, w)), ad.Const(b))
		if i < 4 {
			x = ad.Mul(x, ad.Sigmoid(x))
		}
	}
	return x
}

// desiStars is the likelihood of b stars with three arms at DESI's size, each star with resolution matrices of its own.
type desiStars struct {
	vel, vsini, u *ad.Node
	like          *spectra.Likelihood
	inputs        []*ad.Node
	values        [][]float64
}

func newDesiStars(t testing.TB, b int, withNetwork bool) *desiStars {
	rng := rand.New(rand.NewPCG(1, 2))
	d := &desiStars{vel: ad.Input("vel", b), vsini: ad.Input("vsini", b), u: ad.Input("u", b, 4)}
	add := func(x *ad.Node, f func(i int) float64) *ad.Node {
		v := make([]float64, x.Size())
		for i := range v {
			v[i] = f(i)
		}
		d.inputs, d.values = append(d.inputs, x), append(d.values, v)
		return x
	}
	add(d.vel, func(int) float64 { return 200 * (rng.Float64() - 0.5) })
	add(d.vsini, func(int) float64 { return 5 + 40*rng.Float64() })
	add(d.u, func(int) float64 { return rng.NormFloat64() })
	var exposures []spectra.Exposure
	for _, a := range desi {
		lam := a.templateGrid()
		arm, err := spectra.NewArm(spectra.ArmSettings{Name: a.name, Template: lam, Observed: a.observed(), Continuum: 10})
		if err != nil {
			t.Fatal(err)
		}
		e := spectra.Exposure{Arm: arm}
		if withNetwork {
			e.Template = ad.Scale(0.2, network(d.u, len(lam), rng))
		} else {
			e.Template = add(ad.Input("template", b, len(lam)), func(i int) float64 { return -0.5 * math.Pow(rng.Float64(), 8) })
		}
		n := a.pixels
		e.Flux = add(ad.Input("flux", b, n), func(i int) float64 { return 100 * (1 + 0.3*math.Sin(float64(i%n)/900) + 0.03*rng.NormFloat64()) })
		e.Err = add(ad.Input("err", b, n), func(i int) float64 { return 3 + rng.Float64() })
		e.Band = add(ad.Input("band", b, 11, n), func(i int) float64 {
			x := float64(i/n%11 - 5)
			return math.Exp(-x*x/1.5) / 2.17
		})
		exposures = append(exposures, e)
	}
	d.like = spectra.NewLikelihood(d.vel, d.vsini, exposures...)
	return d
}

func (d *desiStars) program(t testing.TB, bits, threads int, outs ...*ad.Node) *ad.State {
	p, err := ad.Compile(outs, ad.Settings{Inputs: d.inputs, Precision: bits, Backend: ad.CPU{Threads: threads}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	for i, v := range d.values {
		if err := s.SetInput(i, v); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// BenchmarkDESI measures one thread at DESI's size: three arms, 10 continuum functions, 11 diagonals of resolution
// for each star, the network included or not.
func BenchmarkDESI(b *testing.B) {
	for _, stars := range []int{1, 16, 64, 512} {
		for _, bits := range []int{32, 64} {
			if stars == 512 && bits == 64 {
				continue // 3 GB
			}
			for _, net := range []bool{false, true} {
				for _, what := range []string{"value", "gradient", "gauss-newton"} {
					if stars == 512 && what == "gauss-newton" {
						continue
					}
					name := fmt.Sprintf("stars=%d/float%d/network=%v/%s", stars, bits, net, what)
					b.Run(name, func(b *testing.B) {
						d := newDesiStars(b, stars, net)
						params := []*ad.Node{d.vel, d.vsini}
						if net {
							params = append(params, d.u)
						}
						outs := []*ad.Node{d.like.ChiSquare}
						switch what {
						case "gradient":
							outs = append(outs, ad.Grad(d.like.ChiSquare, params...)...)
						case "gauss-newton":
							g, h := d.like.GaussNewton(params...)
							outs = append(outs, g, h)
						}
						s := d.program(b, bits, 1, outs...)
						if err := s.Run(); err != nil {
							b.Fatal(err)
						}
						for b.Loop() {
							if err := s.Run(); err != nil {
								b.Fatal(err)
							}
						}
						b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N)/float64(stars), "ms/star")
					})
				}
			}
		}
	}
}

// BenchmarkHalfMasked measures one arm with and without half of it masked by errors of 1e9, where the continuum is
// fitted in twice the precision.
func BenchmarkHalfMasked(b *testing.B) {
	a := desi[0]
	arm, err := spectra.NewArm(spectra.ArmSettings{Template: a.templateGrid(), Observed: a.observed(), Continuum: 10})
	if err != nil {
		b.Fatal(err)
	}
	for _, masked := range []float64{3, 1e9} {
		b.Run(fmt.Sprintf("error=%g", masked), func(b *testing.B) {
			e := make([]float64, a.pixels)
			for i := range e {
				e[i] = 3
				if i > a.pixels/2 {
					e[i] = masked
				}
			}
			vel := ad.Input("vel")
			l := spectra.NewLikelihood(vel, nil, spectra.Exposure{Arm: arm, Template: ad.Full(0, len(a.templateGrid())), Flux: ad.Full(100, a.pixels), Err: ad.Const(e)})
			p, err := ad.Compile([]*ad.Node{l.ChiSquare}, ad.Settings{Backend: ad.CPU{Threads: 1}})
			if err != nil {
				b.Fatal(err)
			}
			s := p.NewState()
			for b.Loop() {
				if err := s.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
