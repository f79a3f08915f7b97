// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// white is what turns correlated errors into independent ones of size 1: the inverse of the Cholesky factor L of a
// covariance, and L itself, both row-major (n, n).
type white struct {
	n       int
	inverse []float64
	factor  []float64
}

// whitened returns what makes the errors of the curve independent, or why its covariance is of no use.
func (c Curve) whitened() (*white, string) {
	n := len(c.X)
	if c.Samples > 0 && c.Samples < n+10 {
		return nil, fmt.Sprintf("the covariance of %s was estimated from %s only", errtext.Count(n, "point"), errtext.Count(c.Samples, "sample"))
	}
	l := slices.Clone(c.Cov)
	for i, v := range l {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Sprintf("the covariance of points %d and %d is %g", i/n+1, i%n+1, v)
		}
	}
	if row, pivot := linalg.Cholesky(l, n); row >= 0 {
		return nil, fmt.Sprintf("the covariance is not positive definite (%.3g at point %d)", pivot, row+1)
	}
	wider := 1.0
	if s := float64(c.Samples); s > 0 {
		wider = math.Sqrt((s - 1) / (s - float64(n) - 2))
	}
	w := &white{n: n, inverse: make([]float64, n*n), factor: l}
	for i := range n {
		for j := range n {
			if j > i {
				l[i*n+j] = 0
			}
			l[i*n+j] *= wider
		}
	}
	for k := range n { // column k of the inverse, by forward substitution
		for i := k; i < n; i++ {
			v := 0.0
			if i == k {
				v = 1
			}
			for j := k; j < i; j++ {
				v -= l[i*n+j] * w.inverse[j*n+k]
			}
			w.inverse[i*n+k] = v / l[i*n+i]
		}
	}
	return w, ""
}

// weights returns what multiplies residuals, (n, n) if the curve has a covariance and (n) otherwise.
func (c Curve) weights() []float64 {
	n := len(c.X)
	if c.white != nil {
		return c.white.inverse
	}
	stride := 1
	if c.Cov != nil {
		stride = n + 1
	}
	w := make([]float64, (n-1)*stride+1)
	for i := range n {
		if w[i*stride] = 1; c.Err != nil {
			w[i*stride] = 1 / c.Err[i]
		}
	}
	return w
}

// apply returns the product of a matrix with a vector.
func (w *white) apply(m, v []float64) []float64 {
	out := make([]float64, w.n)
	for i := range out {
		for j, x := range v {
			out[i] += m[i*w.n+j] * x
		}
	}
	return out
}

// target returns what a fit compares with the model: Y, corrected for skewness if the errors are correlated.
func (c Curve) target() []float64 {
	if c.white == nil || c.Skew == nil {
		return c.Y
	}
	y := slices.Clone(c.Y)
	for i, v := range c.Skew {
		y[i] += v
	}
	return y
}
