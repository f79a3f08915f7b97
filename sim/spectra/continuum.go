// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"
)

// Basis returns k continuum functions at wavelengths lam, one row each, as functions of x = 2 (lam-lam_0)/(lam_last -
// lam_0) - 1. The radial basis has 1, x, x^2 and, for k > 3, m = k-3 Gaussians at equal distances from -1 to 1 with
// sigma 1/m; the other has the Chebyshev polynomials.
func Basis(lam []float64, k int, chebyshev bool) ([]float64, error) {
	n := len(lam)
	if k < 1 || n < 2 || k > n || lam[0] == lam[n-1] {
		return nil, fmt.Errorf("spectra: a continuum of %d functions does not fit %d pixels: want at least 1 and at most as many as there are pixels", k, n)
	}
	p := make([]float64, k*n)
	for j, l := range lam {
		x := 2*(l-lam[0])/(lam[n-1]-lam[0]) - 1
		for i := range k {
			v := 1.0
			switch {
			case chebyshev && i == 1, !chebyshev && i == 1:
				v = x
			case chebyshev && i > 1:
				v = 2*x*p[(i-1)*n+j] - p[(i-2)*n+j]
			case i == 2:
				v = x * x
			case i > 2:
				m := k - 3
				centre := -1.0
				if m > 1 {
					centre += 2 * float64(i-3) / float64(m-1)
				}
				d := (x - centre) * float64(m)
				v = math.Exp(-d * d / 2)
			}
			p[i*n+j] = v
		}
	}
	return p, nil
}

// Polynomials returns the next m Chebyshev polynomials that the k functions of Basis lack, one row each: those from degree
// 3 for the radial basis, whose Gaussians leave ripples of a cubic, and from degree k for the other.
func Polynomials(lam []float64, k int, chebyshev bool, m int) []float64 {
	first := k
	if !chebyshev {
		first = min(k, 3)
	}
	n := len(lam)
	p := make([]float64, 0, m*n)
	for i := range m {
		for _, l := range lam {
			x := 2*(l-lam[0])/(lam[n-1]-lam[0]) - 1
			p = append(p, math.Cos(float64(first+i)*math.Acos(min(max(x, -1), 1))))
		}
	}
	return p
}

// orthonormalised replaces the k rows of p by A p, whose rows are orthogonal with mean square 1, and returns A and
// log |det A|. Each row is made orthogonal twice to those before it.
func orthonormalised(p []float64, k int) (a []float64, logDet float64, err error) {
	n := len(p) / k
	a = make([]float64, k*k)
	dot := func(x, y []float64) (s float64) {
		for i, v := range x {
			s += v * y[i]
		}
		return s / float64(n)
	}
	for i := range k {
		row, own := p[i*n:(i+1)*n], a[i*k:(i+1)*k]
		own[i] = 1
		size := math.Sqrt(dot(row, row))
		for range 2 {
			for j := range i {
				other := p[j*n : (j+1)*n]
				s := dot(row, other)
				for e, v := range other {
					row[e] -= s * v
				}
				for e, v := range a[j*k : (j+1)*k] {
					own[e] -= s * v
				}
			}
		}
		norm := math.Sqrt(dot(row, row))
		if !(norm > 1e-10*size) {
			return nil, 0, fmt.Errorf("spectra: continuum function %d depends on those before it: use fewer functions, or more pixels", i)
		}
		for e := range row {
			row[e] /= norm
		}
		for e := range own {
			own[e] /= norm
		}
		logDet -= math.Log(norm)
	}
	return a, logDet, nil
}
