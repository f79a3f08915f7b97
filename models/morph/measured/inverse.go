// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/internal/linalg"
)

const (
	// silent is the eigenvalue of an information, scaled to a diagonal of 1, up to which it says nothing along the eigenvector.
	silent = 1e-13
	// touched is the component of such an eigenvector from which on a parameter belongs to what is not determined.
	touched = 1e-4
)

// inverse returns the inverse of an information matrix. Where it is singular, the variances of the parameters that it does not determine,
// alone or together, are infinite and their covariances 0; those of the others hold whatever the values of these are.
func inverse(a []float64, n int) []float64 {
	out := make([]float64, n*n)
	scale := make([]float64, n) // 0 for a parameter of which nothing is known
	for i := range n {
		if v := a[i*n+i]; v > 0 && linalg.AllFinite(a[i*n:(i+1)*n]) {
			scale[i] = 1 / math.Sqrt(v)
		}
	}
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for k := range i {
			s.SetSym(i, k, a[i*n+k]*scale[i]*scale[k])
		}
		s.SetSym(i, i, 1)
	}
	put := func(i, k int, v float64) {
		out[i*n+k], out[k*n+i] = v*scale[i]*scale[k], v*scale[i]*scale[k]
	}
	unknown := make([]bool, n)
	var c mat.Cholesky
	if c.Factorize(s) {
		var v mat.SymDense
		_ = c.InverseTo(&v) // an error is a warning about its condition
		for i := range n {
			for k := range i + 1 {
				put(i, k, v.At(i, k))
			}
		}
	} else {
		unknown = pseudoInverse(s, put)
	}
	for i := range n {
		if scale[i] > 0 && !unknown[i] {
			continue
		}
		for k := range n {
			out[i*n+k], out[k*n+i] = 0, 0
		}
		out[i*n+i] = math.Inf(1)
	}
	return out
}

// pseudoInverse puts the inverse on what a matrix with a diagonal of 1 determines, and reports which parameters it does not.
func pseudoInverse(s *mat.SymDense, put func(i, k int, v float64)) []bool {
	n, _ := s.Dims()
	unknown := make([]bool, n)
	var eigen mat.EigenSym
	if !eigen.Factorize(s, true) {
		for i := range unknown {
			unknown[i] = true
		}
		return unknown
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	for i := range n {
		for k := range i + 1 {
			sum := 0.0
			for j, v := range values {
				if v > silent {
					sum += vectors.At(i, j) * vectors.At(k, j) / v
				}
			}
			put(i, k, sum)
		}
		for j, v := range values {
			unknown[i] = unknown[i] || v <= silent && math.Abs(vectors.At(i, j)) > touched
		}
	}
	return unknown
}
