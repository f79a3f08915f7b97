// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// The first of equal elements is found, and the first NaN before all others, with windows of any size.
func TestLargestOfWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	some := []float64{0, math.Copysign(0, -1), 1, 1, 2, -3, math.Inf(-1), math.Inf(1), math.NaN()}
	for _, s := range []ad.Pooling{{Size: [2]int{2, 2}}, {Size: [2]int{3, 2}, Stride: [2]int{1, 1}}, {Size: [2]int{2, 3}, Stride: [2]int{2, 1}}, {Size: [2]int{1, 1}, Stride: [2]int{2, 2}}} {
		const n, h, w = 3, 7, 8
		x := ad.Input("x", n, 1, h, w)
		at := ad.MaxPool2DIndices(x, s)
		if s.Stride == [2]int{} {
			s.Stride = s.Size
		}
		for _, bits := range []int{64, 32} {
			for range 20 {
				v := make([]float64, n*h*w)
				for i := range v {
					v[i] = some[rng.IntN(len(some)-rng.IntN(2))]
				}
				var want []float64
				for k := range n {
					for p := range at.Shape()[2] {
						for q := range at.Shape()[3] {
							first := p*s.Stride[0]*w + q*s.Stride[1]
							best := first
							for a := range s.Size[0] {
								for b := range s.Size[1] {
									i := first + a*w + b
									u, is := v[k*h*w+i], v[k*h*w+best]
									if u > is || u != u && is == is {
										best = i
									}
								}
							}
							want = append(want, float64(best))
						}
					}
				}
				got := outputsOn(t, []*ad.Node{ad.Float(at)}, []*ad.Node{x}, [][]float64{v}, ad.Settings{Precision: bits})[0]
				if !slices.Equal(got, want) {
					t.Fatalf("%+v, float%d: %v, want %v", s, bits, got, want)
				}
			}
		}
	}
}

// outputsOn compiles outputs, sets inputs and runs them.
func outputsOn(t *testing.T, outs, in []*ad.Node, values [][]float64, s ad.Settings) (got [][]float64) {
	t.Helper()
	s.Inputs = in
	p, err := ad.Compile(outs, s)
	if err != nil {
		t.Fatal(err)
	}
	st := p.NewState()
	for i, v := range values {
		if err := st.SetInput(i, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Run(); err != nil {
		t.Fatal(err)
	}
	for i := range outs {
		got = append(got, st.OutputFloat64(i))
	}
	return got
}

// Gradients of maxima of what a comparison was multiplied with, which meet the comparison only where the maxima are, are those of the
// definition.
func TestMaximaOfCompared(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	x, g := ad.Input("x", 2, 3, 6, 8), ad.Input("g", 2, 3, 3, 4)
	values := [][]float64{make([]float64, x.Size()), make([]float64, g.Size())}
	for _, v := range values {
		for i := range v {
			v[i] = float64(rng.IntN(7)-3) / 2
		}
	}
	s := ad.Pooling{Size: [2]int{2, 2}}
	for name, c := range map[string]struct {
		y     *ad.Node
		slope func(x float64) float64
	}{
		"product": {ad.Mul(x, ad.GreaterEqual(x, ad.Scalar(0))), func(x float64) float64 { return float64(bit(x >= 0)) }},
		"maximum": {ad.ReLU(x), func(x float64) float64 { return (float64(bit(x >= 0)) + float64(bit(x > 0))) / 2 }},
		"choice":  {ad.Where(ad.Less(x, ad.Scalar(0.5)), x, ad.Scalar(0)), func(x float64) float64 { return float64(bit(x < 0.5)) }},
	} {
		outs := []*ad.Node{ad.VJP(ad.MaxPool2D(c.y, s), g, x)[0], ad.Float(ad.MaxPool2DIndices(c.y, s))}
		in := []*ad.Node{x, g}
		got := outputsOn(t, outs, in, values, ad.Settings{})
		want := make([]float64, x.Size())
		for k, at := range got[1] {
			i := k/12*48 + int(at)
			want[i] += values[1][k] * c.slope(values[0][i])
		}
		for i := range want {
			if got[0][i] != want[i] {
				t.Errorf("%s: gradient %g at %d, want %g", name, got[0][i], i, want[i])
			}
		}
		p, err := ad.Compile(outs, ad.Settings{Inputs: in})
		if err != nil {
			t.Fatal(err)
		}
		if text := p.Explain(); !strings.Contains(text, "take_along") {
			t.Errorf("%s: no comparison was taken along:\n%s", name, text)
		}
	}
}

func bit(is bool) int {
	if is {
		return 1
	}
	return 0
}
