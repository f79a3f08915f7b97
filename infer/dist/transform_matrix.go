// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"gonum.org/v1/gonum/mat"
)

// The transforms in this file map vectors on the last axis to K x K matrices, flattened
// row by row on the last axis; leading axes are batch axes. The order K is used in the
// checks of Inverse; if it is 0, K follows from the length of x.

// sides returns K for a K x K matrix of n elements.
func sides(n int) int { return int(math.Round(math.Sqrt(float64(n)))) }

func strictLower(n int) int { k := sides(n); return k * (k - 1) / 2 }

func lowerAndDiagonal(n int) int { k := sides(n); return k * (k + 1) / 2 }

// orderOf returns k, or if that is 0 the order for which free(k*k) is the length of x.
func orderOf(k int, x *ad.Node, free func(int) int) int {
	if k > 0 {
		return k
	}
	for k = 1; free(k*k) < last(x); {
		k++
	}
	return k
}

// triangle puts the last axis of x, row by row, into the lower triangle of k x k
// matrices, below the diagonal if strict is set.
func triangle(x *ad.Node, k int, strict bool) *ad.Node {
	var idx []int
	for i := range k {
		for j := 0; j < i || j == i && !strict; j++ {
			idx = append(idx, i*k+j)
		}
	}
	if len(idx) == 0 {
		s := x.Shape().Clone()
		s[len(s)-1] = k * k
		return ad.Full(0, s...)
	}
	return ad.ScatterAdd(x, ad.Ints(idx), -1, k*k)
}

// matrices reshapes the last axis of x to k x k, and flat undoes that.
func matrices(x *ad.Node, k int) *ad.Node {
	s := x.Shape().Clone()
	return ad.Reshape(x, append(s[:len(s)-1], k, k)...)
}

func flat(x *ad.Node) *ad.Node {
	s := x.Shape().Clone()
	n := s[len(s)-1] * s[len(s)-2]
	return ad.Reshape(x, append(s[:len(s)-2], n)...)
}

// CorrCholeskyTransform maps K(K-1)/2 numbers, row by row, to the Cholesky factor L of a
// correlation matrix:
//
//	z = tanh x, L_ij = z_ij sqrt(1 - sum_(k<j) L_ik^2), L_ii = sqrt(1 - sum L_ik^2)
func CorrCholeskyTransform(k int) Transform {
	return Transform{Name: "corr_cholesky", Event: 2, Free: strictLower,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			if bad := wrongLength(x, k, strictLower); bad != nil {
				return bad, bad
			}
			l, w := corrCholesky(x, orderOf(k, x, strictLower))
			return flat(l), weightedSum(w, orderOf(k, x, strictLower), func(i, j, _ int) float64 { return float64(i - j + 1) })
		},
		Inverse: func(y []float64, _ ...float64) ([]float64, error) { return fromCorrCholesky(y, k) },
		inside:  shrinkRows,
	}
}

// shrinkRows rescales the rows of the factor of a correlation matrix to length 1, with at
// least nudge left for the square of the diagonal.
func shrinkRows(y []float64, nudge float64, _ ...float64) {
	k := sides(len(y))
	for i := range k {
		sum := 0.0
		for _, v := range y[i*k : i*k+i] {
			sum += v * v
		}
		if sum > 1-nudge {
			for j := range i {
				y[i*k+j] *= math.Sqrt((1 - nudge) / sum)
			}
			sum = 1 - nudge
		}
		y[i*k+i] = math.Sqrt(1 - sum)
	}
}

// corrCholesky also returns w = log sqrt(1 - z^2) in the shape of x.
//
// Row i is a cumulative product: the factor in front of z_ij is exp of the sum of w to
// its left.
func corrCholesky(x *ad.Node, k int) (l, w *ad.Node) {
	w = logSech(x)
	left := ad.CumsumWith(matrices(triangle(w, k, true), k), -1, true, false)
	z := ad.Add(matrices(triangle(ad.Tanh(x), k, true), k), ad.Eye(k))
	return ad.Mul(z, ad.Exp(left)), w
}

// weightedSum returns the sum of w times weight(i, j, k) over the elements (i, j < i),
// which w holds row by row.
func weightedSum(w *ad.Node, k int, weight func(i, j, k int) float64) *ad.Node {
	var c []float64
	for i := range k {
		for j := range i {
			c = append(c, weight(i, j, k))
		}
	}
	if len(c) == 0 {
		return ad.Scalar(0)
	}
	return ad.Sum(ad.Mul(w, ad.Const(c)))
}

// wrongLength returns a Node with an error if x has the wrong length for order k.
func wrongLength(x *ad.Node, k int, free func(int) int) *ad.Node {
	if x.Err() != nil {
		return x
	}
	k = orderOf(k, x, free)
	if len(x.Shape()) == 0 || last(x) != free(k*k) {
		return failed(x, fmt.Errorf("dist: a matrix of order %d has %d free numbers, but the shape is %v: want that many in the last axis", k, free(k*k), x.Shape()))
	}
	return nil
}

// logSech returns log(1/cosh x) = log 2 - |x| - log1p(exp(-2|x|)).
func logSech(x *ad.Node) *ad.Node {
	return ad.Sub(ad.Scalar(math.Ln2), ad.Add(x, ad.Softplus(ad.Scale(-2, x))))
}

// order returns K for a y of K x K elements. If k is known, K must equal it.
func order(y []float64, k int) (int, error) {
	n := sides(len(y))
	if k > 0 {
		n = k
	}
	if n*n != len(y) || n == 0 {
		return 0, fmt.Errorf("dist: there are %d elements: want a %d x %d matrix", len(y), max(n, 1), max(n, 1))
	}
	return n, nil
}

func fromCorrCholesky(y []float64, k int) ([]float64, error) {
	k, err := order(y, k)
	if err != nil {
		return nil, err
	}
	var x []float64
	for i := range k {
		rest := 1.0
		for j := range i {
			v := y[i*k+j]
			z := v / math.Sqrt(rest)
			if !(math.Abs(z) < 1) {
				return nil, fmt.Errorf("dist: element (%d, %d) is %g: want the Cholesky factor of a correlation matrix", i, j, v)
			}
			x = append(x, math.Atanh(z))
			rest -= v * v
		}
		if d := y[i*k+i]; !(d > 0 && math.Abs(d*d-rest) <= 1e-6) {
			return nil, fmt.Errorf("dist: row %d of the Cholesky factor of a correlation matrix has squared length %.9g: want 1, with the diagonal above 0", i, 1-rest+d*math.Abs(d))
		}
	}
	return x, nil
}

// CorrMatrixTransform maps K(K-1)/2 numbers to a correlation matrix L L^T.
func CorrMatrixTransform(k int) Transform {
	return Transform{Name: "corr_matrix", Event: 2, Free: strictLower,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			if bad := wrongLength(x, k, strictLower); bad != nil {
				return bad, bad
			}
			n := orderOf(k, x, strictLower)
			m, w := corrCholesky(x, n)
			// Add the Jacobian of L -> L L^T on the strict lower part.
			logJ = weightedSum(w, n, func(_, j, k int) float64 { return float64(k - j) })
			return flat(ad.MatMul(m, ad.T(m))), logJ
		},
		Inverse: func(y []float64, _ ...float64) ([]float64, error) {
			l, err := cholesky(y, k)
			if err != nil {
				return nil, err
			}
			return fromCorrCholesky(l, k)
		},
		inside: func(y []float64, nudge float64, _ ...float64) {
			n := sides(len(y))
			for i := range y {
				if i%(n+1) == 0 {
					y[i] = 1
				} else {
					y[i] *= 1 - nudge
				}
			}
		},
	}
}

// CholeskyCovTransform maps K(K+1)/2 numbers, row by row, to a lower triangle whose
// diagonal is their exp.
func CholeskyCovTransform(k int) Transform {
	return Transform{Name: "cholesky_cov", Event: 2, Free: lowerAndDiagonal,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			if bad := wrongLength(x, k, lowerAndDiagonal); bad != nil {
				return bad, bad
			}
			l, diag := lowerTriangle(x, orderOf(k, x, lowerAndDiagonal))
			return l, ad.Sum(diag)
		},
		Inverse: func(y []float64, _ ...float64) ([]float64, error) { return fromLowerTriangle(y, k) },
		inside: func(y []float64, nudge float64, _ ...float64) {
			for i, n := 0, sides(len(y)); i < len(y); i += n + 1 {
				y[i] = max(y[i], nudge)
			}
		},
	}
}

// lowerTriangle returns the flat triangle, and x with zeros off the diagonal.
func lowerTriangle(x *ad.Node, k int) (l, logDiag *ad.Node) {
	isDiag := ad.Const(onDiagonal(k, func(int) float64 { return 1 }))
	logDiag = ad.Where(isDiag, x, ad.Scalar(0))
	return triangle(ad.Where(isDiag, ad.Exp(logDiag), x), k, false), logDiag
}

// onDiagonal returns a lower triangle, row by row, with f(i) at (i, i) and zeros
// elsewhere.
func onDiagonal(k int, f func(i int) float64) []float64 {
	v := make([]float64, k*(k+1)/2)
	for i := range k {
		v[i*(i+3)/2] = f(i)
	}
	return v
}

func fromLowerTriangle(y []float64, k int) ([]float64, error) {
	k, err := order(y, k)
	if err != nil {
		return nil, err
	}
	var x []float64
	for i := range k {
		x = append(x, y[i*k:i*k+i]...)
		d := y[i*k+i]
		if !(d > 0) {
			return nil, fmt.Errorf("dist: diagonal element %d is %g: want a number above 0", i, d)
		}
		x = append(x, math.Log(d))
	}
	return x, nil
}

// CovMatrixTransform maps K(K+1)/2 numbers to a covariance matrix L L^T.
func CovMatrixTransform(k int) Transform {
	return Transform{Name: "cov_matrix", Event: 2, Free: lowerAndDiagonal,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			if bad := wrongLength(x, k, lowerAndDiagonal); bad != nil {
				return bad, bad
			}
			n := orderOf(k, x, lowerAndDiagonal)
			l, logDiag := lowerTriangle(x, n)
			m := matrices(l, n)
			weight := ad.Const(onDiagonal(n, func(i int) float64 { return float64(n - i + 1) }))
			logJ = ad.Shift(ad.Sum(ad.Mul(logDiag, weight)), float64(l.Size()/n)*math.Ln2)
			return flat(ad.MatMul(m, ad.T(m))), logJ
		},
		Inverse: func(y []float64, _ ...float64) ([]float64, error) {
			l, err := cholesky(y, k)
			if err != nil {
				return nil, err
			}
			return fromLowerTriangle(l, k)
		},
		inside: func(y []float64, nudge float64, _ ...float64) { // nudge is in units of the mean variance
			trace, n := 0.0, sides(len(y))
			for i := 0; i < len(y); i += n + 1 {
				trace += math.Abs(y[i]) / float64(n)
			}
			for i := 0; i < len(y); i += n + 1 {
				y[i] += nudge * max(trace, nudge)
			}
		},
	}
}

// cholesky returns the lower Cholesky factor of a symmetric k x k matrix, row-major.
func cholesky(y []float64, k int) ([]float64, error) {
	k, err := order(y, k)
	if err != nil {
		return nil, err
	}
	for i := range k {
		for j := range i {
			a, b := y[i*k+j], y[j*k+i]
			if !(math.Abs(a-b) <= 1e-8*max(1, math.Abs(a))) {
				return nil, fmt.Errorf("dist: elements (%d, %d) and (%d, %d) are %g and %g: want a symmetric matrix", i, j, j, i, a, b)
			}
		}
	}
	var c mat.Cholesky
	if !c.Factorize(mat.NewSymDense(k, append([]float64{}, y...))) {
		return nil, fmt.Errorf("dist: the %d x %d matrix is not positive definite: add a small number to its diagonal", k, k)
	}
	var l mat.TriDense
	c.LTo(&l)
	out := make([]float64, k*k)
	for i := range k {
		for j := range i + 1 {
			out[i*k+j] = l.At(i, j)
		}
	}
	return out, nil
}
