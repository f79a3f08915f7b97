package twotime

import (
	"context"
	"math"
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

// BenchmarkSums times one pass over the pairs with everything that least squares needs; the metric is nanoseconds for a pair.
func BenchmarkSums(b *testing.B) {
	for name, size := range map[string][2]int{"3x400": {3, 400}, "23x1000": {23, 1000}} {
		b.Run(name, func(b *testing.B) {
			d, truth := shear(b, size[0], size[1], 0.02)
			s, err := newSums(&d, 1)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				s.at = nil
				if err := s.evaluate(context.Background(), truth); err != nil {
					b.Fatal(err)
				}
			}
			pairs := float64(size[0]*size[1]*(size[1]-1)) / 2
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pairs, "ns/pair")
		})
	}
}
