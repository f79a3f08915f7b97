// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// scanned returns all scans of x along an axis, with their gradients.
func scanned(x *ad.Node, axis int) (outs []*ad.Node) {
	a := ad.Scale(0.9, ad.Cos(x))
	first := ad.Index(x, axis, 0)
	for _, y := range []*ad.Node{ad.Cumsum(x, axis), ad.CumsumWith(x, axis, true, true), ad.Cumprod(ad.Shift(ad.Scale(0.01, x), 1), axis), ad.LogCumsumExp(ad.Scale(3, x), axis),
		ad.LinearScan(a, x, nil, axis, false), ad.LinearScan(a, x, first, axis, true), ad.Cummax(x, axis), ad.Delay(x, first, axis, false), ad.Delay(x, first, axis, true)} {
		outs = append(outs, y, ad.Grad(ad.Sum(ad.Square(y)), x)[0])
	}
	return append(outs, ad.Cummin(x, axis))
}

// scanParity compares scans of lines that a thread walks, that a block shares, and that blocks share.
func scanParity(t *testing.T, tol map[int]float64, shapes ...[]int) {
	var in, outs []*ad.Node
	var values [][]float64
	for i, shape := range shapes {
		x := ad.Input("x", shape...)
		in, values, outs = append(in, x), append(values, random(x.Size(), uint64(i))), append(outs, scanned(x, min(1, len(shape)-1))...)
	}
	same(t, outs, in, values, tol)
}

func TestScanParity(t *testing.T) {
	pretend.Shared(t)
	scanParity(t, map[int]float64{64: 1e-12}, []int{511}, []int{2, 2050, 2})
}

// Long lines keep infinities, NaN, zeros, and products that leave the range of numbers on the way.
func TestScansAtTheEdge(t *testing.T) {
	pretend.Shared(t)
	const n = 5000
	inf := math.Inf(1)
	fill := func(f func(i int) float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = f(i)
		}
		return v
	}
	spots := func(v, elsewhere float64, at ...int) []float64 {
		x := fill(func(int) float64 { return elsewhere })
		for _, i := range at {
			x[i] = v
		}
		return x
	}
	var in, outs []*ad.Node
	var values [][]float64
	add := func(f func(x ...*ad.Node) *ad.Node, v ...[]float64) {
		var x []*ad.Node
		for _, v := range v {
			x = append(x, ad.Input("x", n))
			in, values = append(in, x[len(x)-1]), append(values, v)
		}
		outs = append(outs, f(x...))
	}
	linear := func(x ...*ad.Node) *ad.Node { return ad.LinearScan(x[0], x[1], nil, 0, false) }
	product := func(x ...*ad.Node) *ad.Node { return ad.Cumprod(x[0], 0) }
	// The factors of 256 elements together leave the range of numbers, what they multiply is small.
	add(linear, fill(func(i int) float64 { return []float64{0.0676, 17, 1}[min(2, i/256)] }), spots(1, 0, 0))
	add(linear, spots(inf, 0.5, 0), fill(func(i int) float64 { return math.Sin(float64(i)) })) // a_0 is not used
	add(linear, fill(func(i int) float64 { return []float64{1e200, 1e-200}[i%2] }), fill(func(i int) float64 { return float64(i % 3) }))
	add(product, fill(func(i int) float64 { return []float64{1e-30, 1e45, 1}[min(2, i/8)] })) // in range, but the second stretch alone is not
	add(product, spots(0, 1.0001, 3000))
	add(product, spots(math.NaN(), 1.0001, 3000))
	add(func(x ...*ad.Node) *ad.Node { return ad.LogCumsumExp(x[0], 0) }, fill(func(i int) float64 { return []float64{-inf, 900 * math.Sin(float64(i))}[min(1, i/2500)] }))
	add(func(x ...*ad.Node) *ad.Node { return ad.Cummax(x[0], 0) }, spots(math.NaN(), 1, 4000))
	add(func(x ...*ad.Node) *ad.Node { return ad.Cumsum(x[0], 0) }, spots(inf, 1, 2100))
	same(t, outs, in, values, map[int]float64{64: 1e-12})
}

// A product that loses digits on the way, between numbers that keep theirs, is multiplied in order.
func TestProductsLoseNoDigits(t *testing.T) {
	pretend.Shared(t)
	const n = 6144
	x := ad.Input("x", n)
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	put := func(at, apart int) {
		for k, f := range []float64{1e150, 1e-160, 1e-160, 1e160, 1e160, 1e-150} {
			v[at+k*apart] = f
		}
	}
	put(511, 1)      // 1e-320 in a thread
	put(2048+512, 8) // in a warp
	put(4096, 256)   // among warps
	same(t, []*ad.Node{ad.Cumprod(x, 0)}, []*ad.Node{x}, [][]float64{v}, map[int]float64{64: 1e-13})
}
