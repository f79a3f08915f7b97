// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"fmt"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// A convolution of images (batch, channels, height, width) with filters.
type convolved struct {
	images, filters []int
	ad.Convolution
}

var convolutions = []convolved{
	{[]int{2, 3, 7, 6}, []int{5, 3, 3, 2}, ad.Convolution{}},
	{[]int{1, 9, 40, 33}, []int{33, 9, 3, 3}, ad.Convolution{Pad: [2]int{1, 1}}}, // long sums of places, more than a tile of results
	{[]int{3, 4, 9, 8}, []int{6, 2, 3, 4}, ad.Convolution{Stride: [2]int{2, 1}, Pad: [2]int{2, 3}, Dilation: [2]int{1, 2}, Groups: 2}},
	{[]int{2, 8, 11, 10}, []int{12, 8, 2, 3}, ad.Convolution{Stride: [2]int{2, 2}, Pad: [2]int{0, 1}}},
	{[]int{2, 4, 8, 9}, []int{4, 1, 3, 3}, ad.Convolution{Stride: [2]int{3, 2}, Groups: 4}},
	{[]int{2, 40, 1, 70}, []int{70, 40, 1, 1}, ad.Convolution{}},
	{[]int{1, 2, 3, 3}, []int{2, 2, 5, 5}, ad.Convolution{Pad: [2]int{1, 1}}}, // most of the filter is outside
}

// convolvedGraph makes the convolutions, with their gradients by images and filters.
func convolvedGraph(list []convolved) (outs, in []*ad.Node, values [][]float64) {
	for k, c := range list {
		x, w := ad.Input(fmt.Sprint("x", k), c.images...), ad.Input(fmt.Sprint("w", k), c.filters...)
		y := ad.Conv2D(x, w, c.Convolution)
		g := ad.Input(fmt.Sprint("g", k), y.Shape()...)
		outs, in = append(append(outs, y), ad.VJP(y, g, x, w)...), append(in, x, w, g)
		for i, n := range []*ad.Node{x, w, g} {
			values = append(values, random(n.Size(), uint64(3*k+i)))
		}
	}
	return outs, in, values
}

// Convolutions and their gradients are the processor's as products in tiles, and those in which a thread has an element
// in the slow tests.
func TestConvolutionsInTiles(t *testing.T) { convolutionParity(t, 1) }

func convolutionParity(t *testing.T, leastTiles ...int) {
	t.Helper()
	pretend.Shared(t)
	outs, in, values := convolvedGraph(convolutions)
	for _, n := range leastTiles {
		undo := cuda.SetLeastTile(n)
		same(t, outs, in, values, map[int]float64{64: 1e-13, 32: 2e-6})
		undo()
	}
}

// Wide convolutions are products in tiles, those with a group for each channel are not.
func TestWhichConvolutionsAreInTiles(t *testing.T) {
	pretend.Shared(t)
	for _, c := range []struct {
		convolved
		tiles int // of the convolution and its two gradients
	}{{convolutions[1], 3}, {convolutions[4], 0}, {convolutions[0], 0}} {
		outs, _, _ := convolvedGraph([]convolved{c.convolved})
		p, err := ad.Compile(outs, ad.Settings{Backend: ad.CUDA{}})
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(p.Explain(), "\nkernels\n")
		if n := strings.Count(text, "R eu_gathered_"); n != c.tiles {
			t.Errorf("images %v, filters %v: %d products in tiles, want %d", c.images, c.filters, n, c.tiles)
		}
	}
}
