// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels"
)

// naive adds up a convolution and its gradients as its definition says.
func naive(x, w, g *ad.Node, values [][]float64, s ad.Convolution) (y, images, filters []float64) {
	n, c, h, width := x.Shape()[0], x.Shape()[1]/s.Groups, x.Shape()[2], x.Shape()[3]
	o, a, b, p, q := w.Shape()[0]/s.Groups, w.Shape()[2], w.Shape()[3], g.Shape()[2], g.Shape()[3]
	y, images, filters = make([]float64, g.Size()), make([]float64, x.Size()), make([]float64, w.Size())
	for k := range n * s.Groups * o * p * q {
		result := k / (p * q)
		group, i, j := result/o, k/q%p, k%q
		for f := range c * a * b {
			row, column := i+f/b%a*s.Dilation[0]-s.Pad[0], j+f%b*s.Dilation[1]-s.Pad[1]
			if row < 0 || row >= h || column < 0 || column >= width {
				continue
			}
			at, weight := ((group*c+f/(a*b))*h+row)*width+column, (group%s.Groups*o+result%o)*c*a*b+f
			y[k] += values[0][at] * values[1][weight]
			images[at] += values[1][weight] * values[2][k]
			filters[weight] += values[0][at] * values[2][k]
		}
	}
	return y, images, filters
}

// Convolutions of small images, which are computed in planes with zeros around them, have the numbers of their definition, and the same
// bits for any number of threads.
func TestSmallImages(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, c := range []struct {
		n, channels, results, h, w, a, b int
		s                                ad.Convolution
	}{
		{3, 8, 6, 9, 7, 3, 3, ad.Convolution{Pad: [2]int{1, 1}, Groups: 1, Dilation: [2]int{1, 1}}},
		{2, 12, 8, 8, 12, 3, 2, ad.Convolution{Pad: [2]int{2, 0}, Groups: 2, Dilation: [2]int{2, 1}}},
		{1, 6, 6, 16, 16, 3, 3, ad.Convolution{Pad: [2]int{1, 1}, Groups: 6, Dilation: [2]int{1, 1}}},
		{2, 6, 3, 10, 17, 2, 5, ad.Convolution{Pad: [2]int{0, 2}, Groups: 3, Dilation: [2]int{1, 1}}},
		{2, 20, 5, 28, 28, 3, 3, ad.Convolution{Groups: 1, Dilation: [2]int{1, 2}}},
		{40, 9, 20, 12, 12, 4, 3, ad.Convolution{Groups: 1, Dilation: [2]int{1, 1}, Pad: [2]int{1, 1}}},
	} {
		x, w := ad.Input("x", c.n, c.channels, c.h, c.w), ad.Input("w", c.results, c.channels/c.s.Groups, c.a, c.b)
		y := ad.Conv2D(x, w, c.s)
		g := ad.Input("g", y.Shape()...)
		in := []*ad.Node{x, w, g}
		var values [][]float64
		for _, i := range in {
			v := make([]float64, i.Size())
			for k := range v {
				v[k] = float64(float32(rng.NormFloat64()))
			}
			values = append(values, v)
		}
		outs := append([]*ad.Node{y}, ad.VJP(y, g, x, w)...)
		compareConvolution(t, fmt.Sprintf("%+v", c), c.s, outs, in, values)
		for k := range values[2] { // as behind a pooling by maxima
			values[2][k] *= float64(rng.IntN(4) / 3)
		}
		compareConvolution(t, fmt.Sprintf("%+v, mostly zeros", c), c.s, outs, in, values)
	}
}

// compareConvolution compares values and gradients with those of the definition, and their bits for two numbers of threads.
func compareConvolution(t *testing.T, label string, s ad.Convolution, outs, in []*ad.Node, values [][]float64) {
	want := make([][]float64, 3)
	want[0], want[1], want[2] = naive(in[0], in[1], in[2], values, s)
	for _, bits := range []int{64, 32} {
		for _, level := range kernels.Levels() {
			simd := level.String()
			var first [][]float64
			for _, threads := range []int{1, 2} {
				got := outputsOn(t, outs, in, values, ad.Settings{Precision: bits, Backend: ad.CPU{Threads: threads, SIMD: simd}})
				if first == nil {
					first = got
				}
				for i, name := range []string{"values", "images", "filters"} {
					if d, limit := relative(got[i], want[i]), map[int]float64{64: 1e-14, 32: 1e-6}[bits]; !(d <= limit) {
						t.Errorf("%s, float%d %s, %s: the difference is %.2g, want at most %g", label, bits, simd, name, d, limit)
					}
					if !slices.Equal(got[i], first[i]) {
						t.Errorf("%s, float%d %s, %s: other bits on %d threads", label, bits, simd, name, threads)
					}
				}
			}
		}
	}
}

// Zeros among gradients times numbers that are not finite are not zero, however many there are.
func TestZerosTimesInfinity(t *testing.T) {
	x, w := ad.Input("x", 2, 3, 6, 6), ad.Input("w", 4, 3, 3, 3)
	s := ad.Convolution{Pad: [2]int{1, 1}, Groups: 1, Dilation: [2]int{1, 1}}
	y := ad.Conv2D(x, w, s)
	g := ad.Input("g", y.Shape()...)
	in, outs := []*ad.Node{x, w, g}, ad.VJP(y, g, x, w)
	for infinite := range 2 { // among images or filters
		values := [][]float64{make([]float64, x.Size()), make([]float64, w.Size()), make([]float64, g.Size())}
		for i := range values[2] {
			values[2][i] = float64(i % 7 / 6)
		}
		values[infinite][50] = math.Inf(1)
		_, images, filters := naive(x, w, g, values, s)
		for i, got := range outputsOn(t, outs, in, values, ad.Settings{}) {
			for k, v := range [][]float64{images, filters}[i] {
				if math.IsNaN(v) && !math.IsNaN(got[k]) {
					t.Fatalf("infinity in input %d: gradient %d has %g at %d, want NaN", infinite, i, got[k], k)
				}
			}
		}
	}
}

// An image has the same values by itself as in a batch.
func TestImageAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, s := range []struct{ channels, results, groups, size int }{{8, 6, 1, 9}, {24, 40, 1, 14}, {3, 1, 1, 16}, {12, 12, 12, 11}, {64, 64, 1, 7}} {
		const n = 3
		values := [][]float64{make([]float64, n*s.channels*s.size*s.size), make([]float64, s.results*s.channels/s.groups*9)}
		for _, v := range values {
			for k := range v {
				v[k] = rng.NormFloat64()
			}
		}
		run := func(n int) []float64 {
			x, w := ad.Input("x", n, s.channels, s.size, s.size), ad.Input("w", s.results, s.channels/s.groups, 3, 3)
			y := ad.Conv2D(x, w, ad.Convolution{Pad: [2]int{1, 1}, Groups: s.groups})
			return outputsOn(t, []*ad.Node{y}, []*ad.Node{x, w}, [][]float64{values[0][:x.Size()], values[1]}, ad.Settings{Precision: 32})[0]
		}
		if alone, all := run(1), run(n); !slices.Equal(alone, all[:len(alone)]) {
			t.Errorf("%+v: %g apart", s, relative(alone, all[:len(alone)]))
		}
	}
}

// relative is the norm of a-b, relative to that of b.
func relative(a, b []float64) float64 {
	if len(a) != len(b) {
		panic(fmt.Sprint(len(a), " numbers, want ", len(b)))
	}
	var d, size float64
	for i := range b {
		d, size = d+(a[i]-b[i])*(a[i]-b[i]), size+b[i]*b[i]
	}
	return math.Sqrt(d / size)
}
