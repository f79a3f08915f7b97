// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gaussian

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/tensor"
)

// Precision is the inverse of a covariance matrix as a graph. Where it is not positive definite, its determinant and solutions are NaN.
type Precision interface {
	// Nodes are what Root needs, in rows.
	Nodes() []*ad.Node
	// Root replaces standard normal numbers x by numbers whose precision the values of the Nodes are, and returns half of the logarithm of its determinant.
	Root(x []float64, values [][]float64) float64

	logDet() *ad.Node
	solve(v *ad.Node) *ad.Node   // product of the inverse and a row
	product(v *ad.Node) *ad.Node // product with a row
	// damped adds a number to the diagonal where that is above 0. Independent numbers then have the absolute values of their precisions, too.
	damped(by *ad.Node) Precision
	cost() float64 // operations of factors and their gradient that the graph does not show, in elements of arrays
}

var (
	_ Precision = diagonal{}
	_ Precision = band{}
	_ Precision = dense{}
	_ Precision = (*sparse)(nil)
)

// diagonal is the precision of independent numbers.
type diagonal struct{ row *ad.Node }

func (d diagonal) Nodes() []*ad.Node                            { return []*ad.Node{d.row} }
func (d diagonal) logDet() *ad.Node                             { return ad.Sum(ad.Log(d.row)) }
func (d diagonal) solve(v *ad.Node) *ad.Node                    { return ad.Div(v, d.row) }
func (d diagonal) product(v *ad.Node) *ad.Node                  { return ad.Mul(d.row, v) }
func (d diagonal) cost() float64                                { return 0 }
func (d diagonal) Root(x []float64, values [][]float64) float64 { return divided(x, values[0]) }

func (d diagonal) damped(by *ad.Node) Precision {
	return diagonal{ad.Where(ad.Less(ad.Scalar(0), by), ad.Add(ad.Abs(d.row), by), d.row)}
}

// divided divides by the square roots of pivots, and returns half of the sum of their logarithms.
func divided(x, pivot []float64) (half float64) {
	for i, p := range pivot {
		x[i] /= math.Sqrt(p)
		half += math.Log(p) / 2
	}
	return half
}

// band is the precision of numbers of which neighbours interact.
type band struct{ diagonal, beside *ad.Node }

func (b band) Nodes() []*ad.Node         { return []*ad.Node{b.diagonal, b.beside} }
func (b band) logDet() *ad.Node          { return logDetBand(b.diagonal, b.beside) }
func (b band) solve(v *ad.Node) *ad.Node { return solveBand(b.diagonal, b.beside, v) }
func (b band) cost() float64             { return 0 }

func (b band) damped(by *ad.Node) Precision { return band{ad.Add(b.diagonal, by), b.beside} }

func (b band) product(v *ad.Node) *ad.Node {
	n, none := v.Size(), ad.Full(0, 1)
	return ad.AddN(ad.Mul(b.diagonal, v), ad.Concat(0, ad.Mul(b.beside, ad.Slice(v, 0, 1, n)), none), ad.Concat(0, none, ad.Mul(b.beside, ad.Slice(v, 0, 0, n-1))))
}

func (b band) Root(x []float64, values [][]float64) float64 {
	pivot, below := make([]float64, len(x)), make([]float64, len(x)-1)
	if !bandFactor(pivot, below, values[0], values[1]) {
		fill(x)
		return math.NaN()
	}
	half := divided(x, pivot)
	bandBack(x, below)
	return half
}

// dense is a precision of which most entries count, with its Cholesky factor.
type dense struct{ matrix, factor *ad.Node }

func newDense(c *curvatures) dense {
	n := c.size
	rows := c.precision(n*n, func(i, j int) []int {
		if i == j {
			return []int{i*n + j}
		}
		return []int{i*n + j, j*n + i}
	})
	sums := []*ad.Node{ad.Reshape(rows, n, n)}
	for _, m := range c.dense {
		sums = append(sums, ad.Neg(m))
	}
	matrix := ad.AddN(sums...)
	return dense{matrix, ad.CholeskyOrNaN(matrix)}
}

func (d dense) Nodes() []*ad.Node           { return []*ad.Node{graph.Row(d.factor)} }
func (d dense) logDet() *ad.Node            { return ad.CholeskyLogDet(d.factor) }
func (d dense) solve(v *ad.Node) *ad.Node   { return ad.CholeskySolve(d.factor, v) }
func (d dense) product(v *ad.Node) *ad.Node { return ad.MatMul(d.matrix, v) }
func (d dense) cost() float64               { return 0 }

func (d dense) damped(by *ad.Node) Precision {
	matrix := ad.Add(d.matrix, ad.Mul(by, ad.Eye(d.matrix.Shape()[0])))
	return dense{matrix, ad.CholeskyOrNaN(matrix)}
}

// Root solves with the transposed factor.
func (d dense) Root(x []float64, values [][]float64) (half float64) {
	l, n := values[0], len(x)
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			x[i] -= l[j*n+i] * x[j]
		}
		x[i] /= l[i*n+i]
		half += math.Log(l[i*n+i])
	}
	return half
}

var logTwoPi = math.Log(2 * math.Pi)

// Draw draws from a normal distribution of a mean and a precision, and returns the log density. Without a source of random numbers x is the mean.
func Draw(x, mean []float64, p Precision, values [][]float64, src *tensor.Stream) (log float64) {
	for i := range x {
		if x[i] = 0; src != nil {
			x[i] = src.Normal()
		}
		log -= (logTwoPi + x[i]*x[i]) / 2
	}
	log += p.Root(x, values)
	for i := range x {
		x[i] += mean[i]
	}
	return log
}
