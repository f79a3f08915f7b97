// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

var (
	schoolsY = []float64{28, 8, -3, 7, -1, 1, 18, 12}
	schoolsS = []float64{15, 10, 16, 11, 9, 11, 10, 18}
)

// eightSchools is the non-centred log density with a half-Cauchy(5) scale.
func eightSchools() (lp *ad.Node, in []*ad.Node) {
	mu, lt, z := ad.Input("mu"), ad.Input("log_tau"), ad.Input("z", 8)
	tau := ad.Exp(lt)
	theta := ad.Add(mu, ad.Mul(tau, z))
	r := ad.Div(ad.Sub(ad.Const(schoolsY), theta), ad.Const(schoolsS))
	lp = ad.AddN(ad.Scale(-0.5, ad.Sum(ad.Square(r))), ad.Scale(-0.5, ad.Sum(ad.Square(z))), ad.Scale(-0.02, ad.Square(mu)),
		ad.Neg(ad.Log1p(ad.Scale(0.04, ad.Square(tau)))), lt)
	return lp, []*ad.Node{mu, lt, z}
}

// handSchools is the same by hand.
func handSchools(q, g []float64) float64 {
	mu, lt := q[0], q[1]
	tau := math.Exp(lt)
	lp, gmu, gtau := 0.0, 0.0, 0.0
	for i := range 8 {
		z := q[2+i]
		r := (schoolsY[i] - mu - tau*z) / schoolsS[i]
		lp -= 0.5*r*r + 0.5*z*z
		d := r / schoolsS[i]
		gmu += d
		gtau += d * z
		g[2+i] = d*tau - z
	}
	lp += -0.02*mu*mu - math.Log1p(0.04*tau*tau) + lt
	gtau -= 0.08 * tau / (1 + 0.04*tau*tau)
	g[0] = gmu - 0.04*mu
	g[1] = gtau*tau + 1
	return lp
}

var schoolsAt = []float64{1, .5, .1, .2, .3, -.1, -.2, -.3, .4, .5}

func TestEightSchoolsByHand(t *testing.T) {
	lp, in := eightSchools()
	p, err := ad.Compile(append([]*ad.Node{lp}, ad.Grad(lp, in...)...), ad.Settings{Inputs: in})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(p)
	s := p.NewState()
	copy(s.InputSpan(0, 3), schoolsAt)
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	g := make([]float64, 10)
	want := handSchools(schoolsAt, g)
	for i, v := range append([]float64{want}, g...) {
		if got := s.OutputSpan(0, 4)[i]; !near(got, v, 1e-13) {
			t.Errorf("element %d: %g, by hand %g", i, got, v)
		}
	}
}

func BenchmarkEightSchools(b *testing.B) {
	b.Run("hand", func(b *testing.B) {
		g := make([]float64, 10)
		for b.Loop() {
			handSchools(schoolsAt, g)
		}
	})
	for _, lanes := range []int{0, 64, 256, 1024} {
		name := map[int]string{0: "one", 64: "64-chains", 256: "256-chains", 1024: "1024-chains"}[lanes]
		b.Run(name, func(b *testing.B) {
			lp, in := eightSchools()
			p, err := ad.Compile(append([]*ad.Node{lp}, ad.Grad(lp, in...)...), ad.Settings{Inputs: in, Batch: lanes, Batched: in[:min(3, lanes)], Backend: ad.CPU{Threads: 1}})
			if err != nil {
				b.Fatal(err)
			}
			s := p.NewState()
			q, g := make([]float64, 10*max(lanes, 1)), make([]float64, 10*max(lanes, 1))
			for i := range q {
				q[i] = schoolsAt[i/max(lanes, 1)]
			}
			b.ReportAllocs()
			for b.Loop() {
				copy(s.InputSpan(0, 3), q)
				if err := s.Run(); err != nil {
					b.Fatal(err)
				}
				copy(g, s.OutputSpan(1, 4))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(max(lanes, 1)), "ns/gradient")
		})
	}
}

func chain(n int) (loss, x *ad.Node) {
	x = ad.Input("x", n)
	t := ad.Tanh(ad.Shift(ad.Scale(1.5, x), 0.25))
	u := ad.Exp(ad.Scale(-0.5, ad.Square(x)))
	v := ad.Add(ad.Mul(t, u), ad.Div(x, ad.Shift(ad.Square(x), 1)))
	return ad.Sum(ad.Square(v)), x
}

func BenchmarkChain1e6(b *testing.B) {
	for _, w := range ways() {
		if w.bits != 64 {
			continue
		}
		b.Run(w.String(), func(b *testing.B) {
			loss, x := chain(1_000_000)
			p, err := ad.Compile([]*ad.Node{loss, ad.Grad(loss, x)[0]}, ad.Settings{Backend: ad.CPU{Threads: 1, SIMD: w.simd}})
			if err != nil {
				b.Fatal(err)
			}
			s := p.NewState()
			rng := rand.New(rand.NewPCG(1, 2))
			for i := range s.Input(0) {
				s.Input(0)[i] = rng.NormFloat64()
			}
			b.SetBytes(16_000_000)
			for b.Loop() {
				if err := s.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// mlp is 4-256-256-4000 on a batch of 128, mean squared error.
func mlp() (loss *ad.Node, weights []*ad.Node) {
	in := func(name string, s ...int) *ad.Node { return ad.Input(name, s...) }
	x, y := in("x", 128, 4), in("y", 128, 4000)
	w := []*ad.Node{in("w1", 4, 256), in("b1", 1, 256), in("w2", 256, 256), in("b2", 1, 256), in("w3", 256, 4000), in("b3", 1, 4000)}
	h := ad.Tanh(ad.Add(ad.MatMul(x, w[0]), w[1]))
	h = ad.Tanh(ad.Add(ad.MatMul(h, w[2]), w[3]))
	o := ad.Add(ad.MatMul(h, w[4]), w[5])
	return ad.Scale(1.0/(128*4000), ad.Sum(ad.Square(ad.Sub(o, y)))), w
}

func BenchmarkMLP(b *testing.B) {
	const flop = 2.0 * 128 * (4*256 + 256*256 + 256*4000) * 3
	for _, w := range ways() {
		if w.bits != 32 || w.simd == "go" {
			continue
		}
		b.Run(w.String(), func(b *testing.B) {
			loss, weights := mlp()
			p, err := ad.Compile(append([]*ad.Node{loss}, ad.Grad(loss, weights...)...), ad.Settings{Precision: 32, Backend: ad.CPU{Threads: 1, SIMD: w.simd}})
			if err != nil {
				b.Fatal(err)
			}
			s := p.NewState()
			rng := rand.New(rand.NewPCG(1, 2))
			for i := range p.Inputs() {
				for k := range s.Input32(i) {
					s.Input32(i)[k] = 0.06 * float32(rng.NormFloat64())
				}
			}
			for b.Loop() {
				if err := s.Run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(flop*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}

// BenchmarkRegression is a straight line through 1000 points with an unknown
// standard deviation: the log density and its three gradients, alone and for
// many chains at once, with and without [ad.Hoist].
func BenchmarkRegression(b *testing.B) {
	const n = 1000
	for _, lanes := range []int{0, 64} {
		for _, hoisted := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d-lanes/hoisted=%v", lanes, hoisted), func(b *testing.B) {
				outs, params, data := regression(n)
				inputs := append(params[:len(params):len(params)], data...)
				if hoisted {
					rest, _, places := ad.Hoist(outs, data...)
					outs, inputs = rest, append(inputs, places...)
				}
				p, err := ad.Compile(outs, ad.Settings{Inputs: inputs, Batch: lanes, Batched: params[:min(len(params), lanes)], Backend: ad.CPU{Threads: 1}})
				if err != nil {
					b.Fatal(err)
				}
				s, rng := p.NewState(), rand.New(rand.NewPCG(1, 2))
				for i := range inputs {
					for k := range s.Input(i) {
						s.Input(i)[k] = 0.5 + rng.Float64()
					}
				}
				for b.Loop() {
					if err := s.Run(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n*max(lanes, 1)), "ns/observation")
			})
		}
	}
}

// regression returns the log density of a straight line and its gradients, with
// the parameters and the data they are made from.
func regression(n int) (outs, params, data []*ad.Node) {
	a, slope, sigma := ad.Input("a"), ad.Input("slope"), ad.Input("sigma")
	x, y, weight := ad.Input("x", n), ad.Input("y", n), ad.Input("weight", n)
	z := ad.Div(ad.Div(ad.Sub(y, ad.Add(a, ad.Mul(slope, x))), weight), sigma)
	lp := ad.Sum(ad.Sub(ad.Scale(-0.5, ad.Square(z)), ad.Log(sigma)))
	params, data = []*ad.Node{a, slope, sigma}, []*ad.Node{x, y, weight}
	return append([]*ad.Node{lp}, ad.Grad(lp, params...)...), params, data
}
