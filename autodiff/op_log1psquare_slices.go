// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"
	"sync"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
	"github.com/euryale-dev/euryale/kernels"
)

// Kernels that the loops of this file call on parts of slices.
var (
	squareKernel  = kernels.Unary64(kernels.Best(), "square")
	log1pKernel   = kernels.Unary64(kernels.Best(), "log1p")
	productKernel = kernels.Binary64(kernels.Best(), "mul")
	maxKernel     = kernels.Reduce64(kernels.Best(), "max")
	minKernel     = kernels.Reduce64(kernels.Best(), "min")
)

// sliceBlock is the number of elements that the loops of this file take at a time, so that they stay in the cache.
const sliceBlock = 512

// largestSquared bounds the numbers whose squares say all about log(1 + x^2).
const largestSquared = 1e8

// log1pSquares is special.Log1psq of whole slices.
func log1pSquares(y, x []float64) {
	for ; len(x) > 0; y, x = y[min(sliceBlock, len(y)):], x[min(sliceBlock, len(x)):] {
		n := min(sliceBlock, len(x))
		if maxKernel(&x[0], n) <= largestSquared && minKernel(&x[0], n) >= -largestSquared {
			squareKernel(&y[0], &x[0], n)
			log1pKernel(&y[0], &y[0], n)
			continue
		}
		for i, v := range x[:n] {
			y[i] = special.Log1psq(v)
		}
	}
}

// log1pSquareSlopes is special.Log1psqSlope of whole slices.
func log1pSquareSlopes(y, x []float64) {
	y = y[:len(x)]
	for i, v := range x {
		if math.Abs(v) <= largestSquared {
			y[i] = 2 * v / (1 + v*v)
		} else {
			y[i] = special.Log1psqSlope(v)
		}
	}
}

// fallRooms holds memory for the parts of squareFalls.
var fallRooms = sync.Pool{New: func() any { return new([sliceBlock]float64) }}

// squareFalls is special.SquareFall of whole slices.
func squareFalls(y, nu, z []float64) {
	room := fallRooms.Get().(*[sliceBlock]float64)
	defer fallRooms.Put(room)
	for ; len(z) > 0; y, nu, z = y[min(sliceBlock, len(y)):], nu[min(sliceBlock, len(nu)):], z[min(sliceBlock, len(z)):] {
		n, ordinary := min(sliceBlock, len(z)), true
		for i, v := range z[:n] {
			r := v / math.Sqrt(nu[i])
			ordinary = ordinary && (v == 0 || math.Abs(r) >= 1/largestSquared && math.Abs(r) <= largestSquared)
			room[i] = r * r
		}
		if ordinary {
			log1pKernel(&room[0], &room[0], n)
			productKernel(&y[0], &nu[0], &room[0], n)
			continue
		}
		for i, v := range z[:n] {
			y[i] = special.SquareFall(nu[i], v)
		}
	}
}
