// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package cuda_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// both are the precisions.
var both = []int{64, 32}

func TestFourierManyLengths(t *testing.T) {
	pretend.Shared(t)
	fourierParity(t, both, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 31, 32, 33, 97, 210, 255, 256, 257, 1000, 1024, 3072)
	fourierParity(t, both, 1537, 3073, 4096, 6144, 10007, 65536) // longer than shared memory, in one precision or both
}

func TestFourierManyLongLines(t *testing.T) {
	pretend.Shared(t)
	defer cuda.SetFourierRoom(256)()
	fourierParity(t, both, 16, 17, 32, 33, 60, 64, 97, 240, 1260)
}

func TestDenseManySizes(t *testing.T) {
	pretend.Shared(t)
	denseParity(t, ad.CUDA{Strict: true}, 1, 2, 7, 32, 64, 70)
}

func TestSortManyLengths(t *testing.T) {
	pretend.Shared(t)
	sortParity(t, both, 1, 2, 3, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 4096, 10_001, 65_537)
}

func TestScanManyShapes(t *testing.T) {
	pretend.Shared(t)
	scanParity(t, map[int]float64{64: 1e-12, 32: 2e-4}, []int{512}, []int{3, 700}, []int{2, 2049, 3}, []int{1, 8192}, []int{100_001})
}

// Lines in more pieces than a block has threads, whose states are joined side by side, and one after another where a
// factor is zero.
func TestScansOfManyPieces(t *testing.T) {
	pretend.Shared(t)
	const n = 600_001
	x, a := ad.Input("x", n), ad.Input("a", n)
	v, w := random(n, 1), random(n, 2)
	for i := range w {
		w[i] = 1 + 1e-3*w[i]
	}
	first := ad.Index(x, 0, 0)
	outs := []*ad.Node{ad.LinearScan(ad.Scale(0.99, a), x, first, 0, false), ad.LinearScan(ad.Scale(0.99, a), x, nil, 0, true), ad.Cumprod(a, 0), ad.LogCumsumExp(x, 0), ad.Cummax(x, 0), ad.Cummin(x, 0),
		ad.CumsumWith(x, 0, true, true)}
	same(t, outs, []*ad.Node{x, a}, [][]float64{v, w}, map[int]float64{64: 1e-11})
	w[n/2] = 0
	same(t, []*ad.Node{ad.Cumprod(a, 0)}, []*ad.Node{a}, [][]float64{w}, map[int]float64{64: 1e-11})
}

// Matrices with more rows than a block has threads.
func TestDenseBeyondABlock(t *testing.T) {
	pretend.Shared(t)
	const n = 270
	a, b := ad.Input("a", n, n), ad.Input("b", n, 2)
	values := random(n*n, 8)
	for i := range n {
		values[i*n+(i+1)%n] += 30
	}
	sign, log := ad.SignLogDet(a)
	_, r := ad.QR(a)
	same(t, []*ad.Node{ad.Solve(a, b), ad.Grad(log, a)[0], sign, log, r}, []*ad.Node{a, b}, [][]float64{values, random(2*n, 9)}, map[int]float64{64: 1e-10})
}

// NVIDIA's compiler takes every way to cut a product, also where shared memory is smallest.
func TestRealCompilerTakesTilings(t *testing.T) {
	c := realCompiler(t)
	pretend.Shared(t)
	defer cuda.SetTunedProduct(1)()
	a, b := ad.Input("a", 2, 130, 70), ad.Input("b", 70, 130)
	for k := range cuda.Tilings() {
		undo := cuda.SetTilings(k)
		for _, bits := range both {
			taken(t, c, rtc.Target{Major: 7, Minor: 5}, []*ad.Node{ad.MatMul(a, b), ad.MatMul(ad.T(b), ad.T(a))}, ad.Settings{Precision: bits, Backend: ad.CUDA{Tune: true, OwnKernels: true}})
		}
		undo()
	}
}

func TestConvolutionsByThreads(t *testing.T) { convolutionParity(t, 8, 1<<30) }

// Products of convolutions are timed like others.
func TestTunedConvolutions(t *testing.T) {
	pretend.Shared(t)
	defer cuda.SetTunedProduct(1)()
	outs, in, values := convolvedGraph(convolutions[1:3])
	sameOn(t, ad.CUDA{Strict: true, Tune: true, OwnKernels: true}, outs, in, values, map[int]float64{32: 2e-6})
}

// NVIDIA's compiler takes the kernels of convolutions in tiles.
func TestRealCompilerTakesConvolutions(t *testing.T) {
	c := realCompiler(t)
	pretend.Shared(t)
	defer cuda.SetLeastTile(1)()
	outs, _, _ := convolvedGraph(convolutions)
	for _, bits := range both {
		taken(t, c, rtc.Target{Major: 7, Minor: 5}, outs, ad.Settings{Precision: bits, Backend: ad.CUDA{}})
	}
}

func TestSortsPlainlyOfManyShapes(t *testing.T) {
	pretend.Shared(t)
	sortsPlainly(t, both, 1, 2049, 3, all()...)
	sortsPlainly(t, both, 2, 5000, 1, "special", "random")
	sortsPlainly(t, both, 1, 9001, 2, all()...)
	sortsPlainly(t, []int{32}, 300, 2100, 1, "few")
	sortsPlainly(t, both, 1, 100_003, 1, "special")
	defer cuda.SetSort(2048, 3)()
	sortsPlainly(t, both, 1, 9001, 2, "special", "equal")
	sortsPlainly(t, both, 3, 2049, 1, "special", "random")
}

// NVIDIA's compiler takes the kernels of sorts and of scans without warnings.
func TestRealCompilerTakesSortsAndScans(t *testing.T) {
	c := realCompiler(t)
	pretend.Shared(t)
	for _, bits := range []int{32, 64} {
		x := ad.Input("x", 20_000)
		outs := []*ad.Node{ad.Argsort(x, 0, true), ad.Argsort(ad.Reshape(x, 4, 5000), 1, false), ad.Argsort(ad.Reshape(x, 200, 100), 1, false)}
		taken(t, c, rtc.Target{Major: 9}, append(outs, scanned(x, 0)...), ad.Settings{Precision: bits, Backend: ad.CUDA{}})
	}
}

// The compiler counts what kernels do.
func TestCountedWorkOfMoreKernelsIsDone(t *testing.T) {
	counts(t, 64, countedGraphs)
	for _, bits := range both {
		counts(t, bits, map[string]counted{
			"rows":           {1.2, func(x array) *ad.Node { return ad.Mul(x(150, 200), x(150, 1)) }},
			"columns":        {1.2, func(x array) *ad.Node { return ad.Mul(x(150, 200), x(200)) }},
			"total":          {1.2, func(x array) *ad.Node { return ad.Sum(ad.Square(x(40_000))) }},
			"row sums":       {1.2, func(x array) *ad.Node { return ad.SumAxes(x(100, 304), 1) }},
			"turned product": {1.5, func(x array) *ad.Node { return ad.MatMul(ad.T(x(100, 130)), ad.T(x(140, 100))) }},
			"vector":         {1.2, func(x array) *ad.Node { return ad.MatMul(x(150, 200), x(200, 1)) }},
			"left vector":    {1.2, func(x array) *ad.Node { return ad.MatMul(x(1, 150), x(150, 200)) }},
			"convolution": {1.6, func(x array) *ad.Node {
				return ad.Conv2D(x(2, 4, 20, 20), x(16, 4, 3, 3), ad.Convolution{Pad: [2]int{1, 1}})
			}},
			"pool":            {1.3, func(x array) *ad.Node { return ad.MaxPool2D(x(2, 8, 32, 32), ad.Pooling{Size: [2]int{2, 2}}) }},
			"fourier":         {6, func(x array) *ad.Node { return ad.FFT(x(40, 256, 2), ad.NormBackward, 1) }},
			"fourier columns": {1.6, func(x array) *ad.Node { return ad.FFT(x(64, 200, 2), ad.NormBackward, 0) }},
			"sort":            {1.3, func(x array) *ad.Node { return ad.Sort(x(10_000), 0, false) }},
			"short sorts":     {1.3, func(x array) *ad.Node { return ad.Sort(x(30, 304), 1, false) }},
		})
	}
}
