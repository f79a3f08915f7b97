// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// poolings are windows of all kinds: pairs that are loaded together, rows of odd length, windows that overlap, that have gaps, that are large, and that
// reach beyond the images.
var poolings = []struct {
	shape []int
	s     ad.Pooling
}{
	{[]int{2, 3, 8, 10}, ad.Pooling{Size: [2]int{2, 2}}},
	{[]int{2, 3, 9, 11}, ad.Pooling{Size: [2]int{2, 2}}},
	{[]int{1, 2, 9, 8}, ad.Pooling{Size: [2]int{3, 2}, Stride: [2]int{1, 2}}},
	{[]int{1, 2, 9, 8}, ad.Pooling{Size: [2]int{2, 3}, Stride: [2]int{1, 1}, Dilation: [2]int{2, 1}}},
	{[]int{1, 1, 12, 12}, ad.Pooling{Size: [2]int{5, 5}, Stride: [2]int{2, 3}}},
	{[]int{2, 1, 7, 7}, ad.Pooling{Size: [2]int{3, 3}, Stride: [2]int{2, 2}, Pad: [2]int{1, 1}, Ceil: true}},
	{[]int{1, 1, 1, 1}, ad.Pooling{Size: [2]int{1, 1}}},
}

// Largest elements, their places and their gradients are the processor's, with equal elements, NaN and infinities, also of images that are part of an
// array and begin anywhere in it.
func TestPoolingParity(t *testing.T) {
	pretend.Shared(t)
	for i, c := range poolings {
		x := ad.Input("x", c.shape...)
		more := append([]int{c.shape[0] + 1}, c.shape[1:]...)
		y := ad.Input("y", more...)
		part := ad.Slice(y, 0, 1, more[0])
		largest := ad.MaxPool2D(x, c.s)
		outs := []*ad.Node{largest, ad.Float(ad.MaxPool2DIndices(x, c.s)), ad.MaxPool2D(part, c.s), ad.Grad(ad.Sum(ad.Mul(largest, ad.Sin(ad.MaxPool2D(ad.Exp(x), c.s)))), x)[0]}
		v, w := random(x.Size(), uint64(i)), random(y.Size(), uint64(i+50))
		for k := range v {
			v[k] = math.Round(2*v[k]) / 2 // many are equal
		}
		in := []*ad.Node{x, y}
		same(t, outs, in, [][]float64{v, w}, map[int]float64{64: 1e-13, 32: 1e-5})
		v[0], w[len(w)-1], w[len(w)/2] = math.NaN(), math.Inf(1), math.NaN()
		same(t, outs[:3], in, [][]float64{v, w}, map[int]float64{64: 1e-13, 32: 1e-5})
	}
}

// Pooling is one kernel, which stores places only if a gradient takes them.
func TestPoolingIsOneKernel(t *testing.T) {
	pretend.Shared(t)
	x := ad.Input("x", 2, 3, 8, 10)
	y := ad.MaxPool2D(x, ad.Pooling{Size: [2]int{2, 2}})
	for _, c := range []struct {
		outs   []*ad.Node
		places bool
	}{{[]*ad.Node{y}, false}, {[]*ad.Node{y, ad.Grad(ad.Sum(ad.Square(y)), x)[0]}, true}} {
		p, err := ad.Compile(c.outs, ad.Settings{Backend: ad.CUDA{}})
		if err != nil {
			t.Fatal(err)
		}
		text := p.Explain()
		if strings.Count(text, "void __launch_bounds__(256) eu_pool_") != 1 || strings.Contains(text, "out[i] = at;") != c.places {
			t.Errorf("%v:\n%s", p, text)
		}
	}
}

// Batches have their members side by side in each element of an image.
func TestPoolingOfBatches(t *testing.T) {
	pretend.Shared(t)
	x := ad.Input("x", 2, 1, 6, 6)
	y := ad.MaxPool2D(x, ad.Pooling{Size: [2]int{2, 2}})
	in := []*ad.Node{x}
	v := [][]float64{random(5*x.Size(), 3)}
	s := ad.Settings{Batch: 5, Batched: in}
	want := outputs(t, []*ad.Node{y}, in, v, s)
	s.Backend = ad.CUDA{Strict: true}
	for k, got := range outputs(t, []*ad.Node{y}, in, v, s)[0] {
		if got != want[0][k] {
			t.Errorf("element %d is %g, want %g", k, got, want[0][k])
		}
	}
}
