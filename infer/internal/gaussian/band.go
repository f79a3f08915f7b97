// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gaussian

import (
	"errors"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// A symmetric matrix in which only neighbours interact has n elements on its diagonal and n-1 beside it. Its factor L D L^T has n-1 numbers below its diagonal
// of ones. Matrices that are not positive definite have a NaN.

// bandFactor writes the factors of the matrix and reports whether it is positive definite.
func bandFactor(pivot, below, diagonal, beside []float64) bool {
	for i, d := range diagonal {
		if i > 0 {
			below[i-1] = beside[i-1] / pivot[i-1]
			d -= below[i-1] * beside[i-1]
		}
		if pivot[i] = d; !(d > 0) {
			return false
		}
	}
	return true
}

// bandSolve solves with the factors in place.
func bandSolve(x, pivot, below []float64) {
	for i := 1; i < len(x); i++ {
		x[i] -= below[i-1] * x[i-1]
	}
	for i := range x {
		x[i] /= pivot[i]
	}
	bandBack(x, below)
}

// bandBack solves with L^T in place.
func bandBack(x, below []float64) {
	for i := len(x) - 2; i >= 0; i-- {
		x[i] -= below[i] * x[i+1]
	}
}

func fill(x []float64) {
	for i := range x {
		x[i] = math.NaN()
	}
}

// solveBand returns x with P x = b. Gradient: of any order.
func solveBand(diagonal, beside, b *ad.Node) *ad.Node {
	return ad.Call(bandSolution, diagonal, beside, b)
}

// logDetBand returns log det P. Gradient: the inverse of P, of first order.
func logDetBand(diagonal, beside *ad.Node) *ad.Node { return ad.Call(bandLogDet, diagonal, beside) }

var bandSolution, bandLogDet, bandInverse *ad.Custom

func bandShape(out func(n int) tensor.Shape) func(in ...tensor.Shape) (tensor.Shape, error) {
	return func(in ...tensor.Shape) (tensor.Shape, error) {
		n := in[0].Size()
		for k, want := range []int{n, n - 1, n}[:len(in)] {
			if len(in[k]) != 1 || in[k][0] != want {
				return nil, errors.New("infer: the matrix of neighbours has other shapes than its right side")
			}
		}
		return out(n), nil
	}
}

func init() {
	bandSolution = &ad.Custom{Name: "band_solve", Shape: bandShape(func(n int) tensor.Shape { return tensor.Shape{n} }),
		Forward: func(out []float64, in ...[]float64) error {
			pivot, below := make([]float64, len(out)), make([]float64, len(out)-1)
			if !bandFactor(pivot, below, in[0], in[1]) {
				fill(out)
				return nil
			}
			copy(out, in[2])
			bandSolve(out, pivot, below)
			return nil
		},
		VJP: func(g, y *ad.Node, x []*ad.Node) []*ad.Node {
			back, n := solveBand(x[0], x[1], g), y.Size()
			first, rest := func(v *ad.Node) *ad.Node { return ad.Slice(v, 0, 0, n-1) }, func(v *ad.Node) *ad.Node { return ad.Slice(v, 0, 1, n) }
			beside := ad.Add(ad.Mul(first(back), rest(y)), ad.Mul(rest(back), first(y)))
			return []*ad.Node{ad.Neg(ad.Mul(back, y)), ad.Neg(beside), back}
		}}
	bandLogDet = &ad.Custom{Name: "band_log_det", Shape: bandShape(func(int) tensor.Shape { return tensor.Shape{} }),
		Forward: func(out []float64, in ...[]float64) error {
			n := len(in[0])
			pivot := make([]float64, n)
			if !bandFactor(pivot, make([]float64, n-1), in[0], in[1]) {
				fill(out)
				return nil
			}
			for _, p := range pivot {
				out[0] += math.Log(p)
			}
			return nil
		},
		VJP: func(g, _ *ad.Node, x []*ad.Node) []*ad.Node {
			n := x[0].Size()
			inverse := ad.Mul(g, ad.Call(bandInverse, x[0], x[1]))
			return []*ad.Node{ad.Slice(inverse, 0, 0, n), ad.Scale(2, ad.Slice(inverse, 0, n, 2*n-1))}
		}}
	// bandInverse holds the diagonal of the inverse and what stands beside it.
	bandInverse = &ad.Custom{Name: "band_inverse", Shape: bandShape(func(n int) tensor.Shape { return tensor.Shape{2*n - 1} }),
		Forward: func(out []float64, in ...[]float64) error {
			n := len(in[0])
			pivot, below := make([]float64, n), make([]float64, n-1)
			if !bandFactor(pivot, below, in[0], in[1]) {
				fill(out)
				return nil
			}
			diagonal, beside := out[:n], out[n:]
			diagonal[n-1] = 1 / pivot[n-1]
			for i := n - 2; i >= 0; i-- {
				beside[i] = -below[i] * diagonal[i+1]
				diagonal[i] = 1/pivot[i] - below[i]*beside[i]
			}
			return nil
		}}
}
