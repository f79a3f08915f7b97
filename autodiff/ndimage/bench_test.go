// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ndimage

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Filters of 1024 x 1024 float64 elements on one core. SciPy's times are in docs/PERFORMANCE.md.
func BenchmarkFilters(b *testing.B) {
	gaussian := func(sigma float64) func(x *ad.Node) *ad.Node {
		return func(x *ad.Node) *ad.Node { return Gaussian(x, GaussianSettings{Sigma: []float64{sigma}}) }
	}
	median := func(k int) func(x *ad.Node) *ad.Node {
		return func(x *ad.Node) *ad.Node { return Median(x, BoxSettings{Size: []int{k}}) }
	}
	for _, c := range []struct {
		name string
		f    func(x *ad.Node) *ad.Node
	}{
		{"Gaussian/sigma=1", gaussian(1)},
		{"Gaussian/sigma=5", gaussian(5)},
		{"Gaussian/sigma=5/gradient", func(x *ad.Node) *ad.Node { return ad.Grad(ad.Sum(ad.Square(gaussian(5)(x))), x)[0] }},
		{"Uniform/size=5", func(x *ad.Node) *ad.Node { return Uniform(x, BoxSettings{Size: []int{5}}) }},
		{"Median/size=3", median(3)},
		{"Median/size=5", median(5)},
		{"Zoom/half/order=3", func(x *ad.Node) *ad.Node { return Zoom(x, ZoomSettings{Factor: []float64{0.5}, Order: 3}) }},
		{"Zoom/double/order=1", func(x *ad.Node) *ad.Node { return Zoom(x, ZoomSettings{Factor: []float64{2}, Order: 1}) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			x := ad.Input("x", 1024, 1024)
			p, err := ad.Compile([]*ad.Node{c.f(x)}, ad.Settings{Backend: ad.CPU{Threads: 1}})
			if err != nil {
				b.Fatal(err)
			}
			s := p.NewState()
			in := s.Input(0)
			for i := range in {
				in[i] = float64(i*7919%1013) / 1013
			}
			if err := s.Run(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := s.Run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(in))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpixel/s")
		})
	}
}
