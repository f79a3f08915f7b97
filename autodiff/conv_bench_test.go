// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// BenchmarkConv2D times a convolution and its gradients by images and filters, on one thread; the metric is
// multiplications and additions in a second.
func BenchmarkConv2D(b *testing.B) {
	for _, s := range []struct{ n, c, o, size, filter, groups int }{{4, 64, 128, 64, 3, 1}, {1, 32, 64, 64, 3, 1}, {8, 64, 64, 32, 1, 1}, {8, 1, 32, 28, 5, 1}, {8, 64, 64, 32, 3, 64}, {64, 16, 32, 14, 3, 1}} {
		x, w := ad.Input("x", s.n, s.c, s.size, s.size), ad.Input("w", s.o, s.c/s.groups, s.filter, s.filter)
		y := ad.Conv2D(x, w, ad.Convolution{Pad: [2]int{s.filter / 2, s.filter / 2}, Groups: s.groups})
		g := ad.Input("g", y.Shape()...)
		d := ad.VJP(y, g, x, w)
		for name, out := range map[string]*ad.Node{"values": y, "images": d[0], "filters": d[1]} {
			b.Run(fmt.Sprintf("%dx%dx%d->%d,%d,groups%d/%s", s.n, s.c, s.size, s.o, s.filter, s.groups, name), func(b *testing.B) {
				p, err := ad.Compile([]*ad.Node{out}, ad.Settings{Inputs: []*ad.Node{x, w, g}, Precision: 32, Backend: ad.CPU{Threads: 1}})
				if err != nil {
					b.Fatal(err)
				}
				st := p.NewState()
				rng := rand.New(rand.NewPCG(1, 1))
				for i := range 3 {
					v := st.Input32(i)
					for k := range v {
						v[k] = rng.Float32()
					}
				}
				for b.Loop() {
					if err := st.Run(); err != nil {
						b.Fatal(err)
					}
				}
				work := 2 * float64(y.Size()) * float64(s.c/s.groups*s.filter*s.filter)
				b.ReportMetric(work*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
