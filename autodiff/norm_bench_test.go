// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"math/rand/v2"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// BenchmarkNorm measures Norm, its gradient and that of Atan2 beside the same written plainly, which fails at extreme scales.
func BenchmarkNorm(b *testing.B) {
	norm := func(x *ad.Node) *ad.Node { return ad.Norm(x, -1) }
	plainNorm := func(x *ad.Node) *ad.Node { return ad.Sqrt(ad.SumAxes(ad.Square(x), -1)) }
	part := func(x *ad.Node, k int) *ad.Node { return ad.Index(x, 0, k) }
	angle := func(x *ad.Node) *ad.Node { return ad.Grad(ad.Sum(ad.Atan2(part(x, 0), part(x, 1))), x)[0] }
	plainAngle := func(x *ad.Node) *ad.Node {
		u, v := part(x, 0), part(x, 1)
		r := ad.Add(ad.Square(u), ad.Square(v))
		du, dv := ad.StopGradient(ad.Div(v, r)), ad.StopGradient(ad.Div(u, r))
		return ad.Grad(ad.Sum(ad.Sub(ad.Mul(u, du), ad.Mul(v, dv))), x)[0]
	}
	slope := func(f func(x *ad.Node) *ad.Node) func(x *ad.Node) *ad.Node {
		return func(x *ad.Node) *ad.Node { return ad.Grad(ad.Sum(f(x)), x)[0] }
	}
	for _, c := range []struct {
		name  string
		shape []int
		f     func(x *ad.Node) *ad.Node
	}{
		{"value/1x1000000", []int{1, 1_000_000}, norm}, {"value/1x1000000/plain", []int{1, 1_000_000}, plainNorm},
		{"value/10000x100", []int{10_000, 100}, norm}, {"value/10000x100/plain", []int{10_000, 100}, plainNorm},
		{"value/300000x3", []int{300_000, 3}, norm}, {"value/300000x3/plain", []int{300_000, 3}, plainNorm},
		{"gradient/1x1000000", []int{1, 1_000_000}, slope(norm)}, {"gradient/1x1000000/plain", []int{1, 1_000_000}, slope(plainNorm)},
		{"gradient/10000x100", []int{10_000, 100}, slope(norm)}, {"gradient/10000x100/plain", []int{10_000, 100}, slope(plainNorm)},
		{"gradient/300000x3", []int{300_000, 3}, slope(norm)}, {"gradient/300000x3/plain", []int{300_000, 3}, slope(plainNorm)},
		{"atan2/1000000", []int{2, 1_000_000}, angle}, {"atan2/1000000/plain", []int{2, 1_000_000}, plainAngle},
	} {
		b.Run(c.name, func(b *testing.B) {
			x := ad.Input("x", c.shape...)
			p, err := ad.Compile([]*ad.Node{c.f(x)}, ad.Settings{Inputs: []*ad.Node{x}, Backend: ad.CPU{Threads: 1}})
			if err != nil {
				b.Fatal(err)
			}
			s, rng := p.NewState(), rand.New(rand.NewPCG(1, 2))
			for i := range s.Input(0) {
				s.Input(0)[i] = rng.NormFloat64()
			}
			for b.Loop() {
				if err := s.Run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(x.Size()), "ns/element")
		})
	}
}
