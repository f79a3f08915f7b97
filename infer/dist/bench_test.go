// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// The cost of a prior of known parameters with its gradient: nanoseconds over those
// of an empty program.
func BenchmarkPrior(b *testing.B) {
	for _, l := range dist.All() {
		if l.Value != nil || l.Shapes != nil {
			continue
		}
		d := l.New(l.At[0]...)
		if d.Discrete {
			continue
		}
		b.Run(l.Name, func(b *testing.B) {
			u := ad.Input("u")
			x, logJ := d.Transform().Constrain(u)
			lp := ad.Add(d.LogProbInside(x), logJ)
			s := state(b, []*ad.Node{u}, lp, ad.Grad(lp, u)[0])
			s.Input(0)[0] = 0.3
			run(b, s)
		})
	}
}

// The cost of a likelihood of 1000 observations with gradients by its parameters.
func BenchmarkLikelihood(b *testing.B) {
	const n, k = 1000, 5
	alpha, beta, scale := ad.Input("alpha"), ad.Input("beta", k), ad.Input("scale")
	design, y := ad.Input("x", n, k), ad.Input("y", n)
	for name, d := range map[string]dist.Dist{
		"normal": dist.NormalID(design, alpha, beta, scale), "bernoulli": dist.BernoulliLogitGLM(design, alpha, beta),
		"poisson": dist.PoissonLogGLM(design, alpha, beta), "negbinomial": dist.NegBinomial2LogGLM(design, alpha, beta, scale),
		"studentt": dist.StudentT(4, ad.Add(alpha, ad.MatMul(design, beta)), scale),
	} {
		b.Run(name, func(b *testing.B) {
			lp := ad.Sum(d.LogProb(y))
			s := state(b, []*ad.Node{alpha, beta, scale, design, y}, append([]*ad.Node{lp}, ad.Grad(lp, alpha, beta, scale)...)...)
			s.Input(2)[0] = 1
			stream := tensor.NewStream(1, 2, 3)
			for i := range s.Input(3) {
				s.Input(3)[i] = stream.Normal()
			}
			for i := range s.Input(4) {
				s.Input(4)[i] = float64(i % 2)
			}
			run(b, s)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/observation")
		})
	}
}

func state(b *testing.B, inputs []*ad.Node, outputs ...*ad.Node) *ad.State {
	p, err := ad.Compile(outputs, ad.Settings{Inputs: inputs, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		b.Fatal(err)
	}
	return p.NewState()
}

func run(b *testing.B, s *ad.State) {
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRand(b *testing.B) {
	for _, l := range dist.All() {
		d := l.New(l.At[0]...)
		if l.Value != nil {
			continue
		}
		b.Run(l.Name, func(b *testing.B) {
			stream := tensor.NewStream(1, 2, 3)
			for b.Loop() {
				d.Rand(&stream, l.At[0])
			}
		})
	}
}
