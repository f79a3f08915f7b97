// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package gpubench measures kernels and programs on a GPU, beside the time that memory and arithmetic
// allow and beside the processor, for the command euryale bench gpu:
//
//	results, err := gpubench.Run(ctx, gpubench.Settings{Device: 0})
package gpubench

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// row is one thing to measure, in float32.
type row struct {
	name  string
	bytes float64 // that must be read and written once
	flops float64
	// map or matrix product of package basic; both empty for a program
	kernel  string
	inputs  int    // arrays of n elements that a map reads
	n       int    // elements of a map, or rows and columns of a matrix
	library string // cuBLAS, cuDNN or cuFFT, if it can make the program
	// the same as a graph of arrays of random numbers
	program func(array func(shape ...int) *ad.Node) *ad.Node
}

// rows are the operations of the table, in its order.
func rows() []row {
	var all []row
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000, 10_000_000} {
		all = append(all, row{name: "vector add " + count(n), bytes: 12 * float64(n), flops: float64(n), kernel: "add", inputs: 2, n: n, program: func(array func(shape ...int) *ad.Node) *ad.Node {
			return ad.Add(array(n), array(n))
		}})
	}
	for _, n := range []int{128, 256, 512, 1024, 2048} {
		all = append(all, row{name: fmt.Sprintf("matmul %d", n), bytes: 12 * float64(n) * float64(n), flops: 2 * float64(n) * float64(n) * float64(n), kernel: "matmul", library: "cuBLAS", n: n, program: func(array func(shape ...int) *ad.Node) *ad.Node {
			return ad.MatMul(array(n, n), array(n, n))
		}})
	}
	return append(all, convolution(32, 64, 128, 128, 128), convolution(1, 32, 64, 64, 64),
		row{name: "relu 1M", bytes: 8e6, flops: 1e6, kernel: "relu", inputs: 1, n: 1_000_000, program: func(array func(shape ...int) *ad.Node) *ad.Node {
			return ad.ReLU(array(1_000_000))
		}}, pool(32, 64, 128, 128), norm(32, 64, 32, 32),
		unary("sum 10M", 4, 1, ad.Sum, 10_000_000),
		unary("softmax (4096,1024)", 8, 5, func(x *ad.Node) *ad.Node { return ad.Softmax(x, 1) }, 4096, 1024),
		unary("transpose (4096,4096)", 8, 0, func(x *ad.Node) *ad.Node { return ad.Shift(ad.Permute(x, 1, 0), 1) }, 4096, 4096),
		unary("cumulative sum 10M", 8, 1, func(x *ad.Node) *ad.Node { return ad.Cumsum(x, 0) }, 10_000_000),
		unary("sort 8K", 8, 0, func(x *ad.Node) *ad.Node { return ad.Sort(x, 0, false) }, 8192),
		unary("sort 1M", 8, 0, func(x *ad.Node) *ad.Node { return ad.Sort(x, 0, false) }, 1_000_000),
		fourier("fft (1024,1024)", 8, 25, 1, 1024, 1024), fourier("fft 2d (1024,1024)", 16, 50, 2, 1024, 1024), fourier("fft 2d (96,512,512)", 16, 45, 2, 96, 512, 512))
}

// unary is a function of one array; bytes and flops are those of an element.
func unary(name string, bytes, flops float64, f func(x *ad.Node) *ad.Node, shape ...int) row {
	n := 1.0
	for _, s := range shape {
		n *= float64(s)
	}
	return row{name: name, bytes: bytes * n, flops: flops * n, program: func(array func(shape ...int) *ad.Node) *ad.Node { return f(array(shape...)) }}
}

// fourier is the transform of complex numbers along the last axes.
func fourier(name string, bytes, flops float64, axes int, shape ...int) row {
	last := []int{len(shape) - 2, len(shape) - 1}[2-axes:]
	r := unary(name, bytes, flops, func(x *ad.Node) *ad.Node { return ad.FFT(x, ad.NormBackward, last...) }, append(shape, 2)...)
	r.library = "cuFFT"
	return r
}

func count(n int) string {
	if n >= 1_000_000 {
		return fmt.Sprintf("%dM", n/1_000_000)
	}
	return fmt.Sprintf("%dK", n/1_000)
}

// convolution is 3 x 3 with a border of zeros: batch, channels, height, width, output channels.
func convolution(b, c, h, w, out int) row {
	x := float64(b * c * h * w)
	y := float64(b * out * h * w)
	return row{name: fmt.Sprintf("conv 3x3 (%d,%d,%d,%d)->%d", b, c, h, w, out), bytes: 4 * (x + y + float64(9*c*out)), flops: 18 * y * float64(c), library: "cuDNN", program: func(array func(shape ...int) *ad.Node) *ad.Node {
		return ad.Conv2D(array(b, c, h, w), array(out, c, 3, 3), ad.Convolution{Pad: [2]int{1, 1}})
	}}
}

// pool is the largest of every 2 x 2 elements.
func pool(b, c, h, w int) row {
	n := float64(b * c * h * w)
	return row{name: fmt.Sprintf("max pool 2x2 (%d,%d,%d,%d)", b, c, h, w), bytes: 5 * n, flops: n, program: func(array func(shape ...int) *ad.Node) *ad.Node {
		return ad.MaxPool2D(array(b, c, h, w), ad.Pooling{Size: [2]int{2, 2}})
	}}
}

// norm is batch normalisation as in training: mean and variance of each channel.
func norm(b, c, h, w int) row {
	n := float64(b * c * h * w)
	return row{name: fmt.Sprintf("batch norm (%d,%d,%d,%d)", b, c, h, w), bytes: 12 * n, flops: 8 * n, program: func(array func(shape ...int) *ad.Node) *ad.Node {
		x := array(b, c, h, w)
		mean := ad.Reshape(ad.MeanAxes(x, 0, 2, 3), 1, c, 1, 1)
		centred := ad.Sub(x, mean)
		variance := ad.Reshape(ad.MeanAxes(ad.Square(centred), 0, 2, 3), 1, c, 1, 1)
		return ad.Div(centred, ad.Sqrt(ad.Shift(variance, 1e-5)))
	}}
}
