// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/tensor"
)

// shear is data of a laminar flow at some angles, frames and noise.
func shear(tb testing.TB, angles, frames int, noise float64) (Data, []float64) {
	tb.Helper()
	s := transport.Setup{Model: transport.Laminar, Q: 0.0054, Gap: 2e6}
	for i := range frames {
		s.Times = append(s.Times, 0.1*(float64(i)+0.5))
	}
	for k := range angles {
		s.Angles = append(s.Angles, -90+180*float64(k)/float64(angles))
	}
	truth := []float64{1000, -0.2, 200, 1e-4, 0.1, 1e-5, 4}
	theta, err := s.Inputs()
	if err != nil {
		tb.Fatal(err)
	}
	d := Data{Setup: s}
	p, err := ad.Compile(s.Pairs(theta, transport.Square(frames)), ad.Settings{Inputs: theta})
	if err != nil {
		tb.Fatal(err)
	}
	st := p.NewState()
	for i, v := range truth {
		st.Input(i)[0] = v
	}
	if err := st.Run(); err != nil {
		tb.Fatal(err)
	}
	z := tensor.NewStream(1, 0, 0)
	for k := range angles {
		g := st.Output(k)
		c2 := make([]float64, frames*frames)
		for i := range frames {
			for j := i; j < frames; j++ {
				v := 1 + (0.2+0.01*math.Sin(float64(k)))*g[i*frames+j] + noise*z.Normal()
				c2[i*frames+j], c2[j*frames+i] = v, v
			}
		}
		d.C2 = append(d.C2, c2)
	}
	return d, truth
}

// BenchmarkSums times one pass over the pairs on one core: with the value and gradient of the sums that the likelihood needs, and with the
// products of derivatives that least squares needs, too. The metric is nanoseconds for a pair.
func BenchmarkSums(b *testing.B) {
	for _, size := range [][2]int{{3, 400}, {23, 1000}} {
		d, truth := shear(b, size[0], size[1], 0.02)
		for _, precision := range []int{64, 32} {
			s, err := newSums(&d, 1, precision)
			if err != nil {
				b.Fatal(err)
			}
			for _, curvature := range []bool{false, true} {
				kind := map[bool]string{false: "gradient", true: "gauss-newton"}[curvature]
				b.Run(fmt.Sprintf("%dx%d/float%d/%s", size[0], size[1], precision, kind), func(b *testing.B) {
					for b.Loop() {
						s.at = nil
						if err := s.evaluate(context.Background(), truth, curvature); err != nil {
							b.Fatal(err)
						}
					}
					pairs := float64(size[0]*size[1]*(size[1]-1)) / 2
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pairs, "ns/pair")
				})
			}
		}
	}
}

// BenchmarkSearch times whole fits of 23 angles of 1000 frames on two cores, from a start 30 % above the truth, alone and with 16 others.
func BenchmarkSearch(b *testing.B) {
	d, truth := shear(b, 23, 1000, 0.02)
	start := slices.Clone(truth)
	for k := range start {
		start[k] *= 1.3
	}
	for _, starts := range []int{1, 16} {
		b.Run(fmt.Sprintf("%d", starts), func(b *testing.B) {
			for b.Loop() {
				fit, err := FitLeastSquares(context.Background(), d, Settings{Start: start, Starts: starts, Threads: 2})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(fit.Passes), "passes")
			}
		})
	}
}
