// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Metric is the inverse mass matrix of a sampler as a factor F with F F^T =
// M^-1, an estimate of the posterior covariance: in the whitened coordinates
// F^-1 q the posterior is about as wide in every direction.
//
//	diagonal            F = diag(s)
//	low rank            F = diag(s) (I + U (diag(sqrt(lambda)) - 1) U^T)
//	dense               F = L, the Cholesky factor
//	blocks              F = L inside each block, s elsewhere
//	sparse              F = L^-T, the Cholesky factor of a sparse precision
//
// The zero Metric is the identity of any dimension. A Metric never changes and
// may be shared.
type Metric struct {
	// Scale is s. nil is all ones.
	Scale []float64
	// Vec holds the columns of U, which are orthonormal, one after the other.
	Vec []float64
	// Grow holds sqrt(lambda) - 1 of each column.
	Grow []float64
	// Chol is L by rows, in a full square. It excludes the others.
	Chol []float64

	// Blocks are full covariances that replace the diagonal.
	Blocks []BlockFactor
	// Sparse excludes the others.
	Sparse *SparseFactor
}

// DiagMetric returns the metric of parameters with the given variances.
func DiagMetric(variances []float64) (Metric, error) {
	s := make([]float64, len(variances))
	for i, v := range variances {
		if s[i] = math.Sqrt(v); !(s[i] > 0) || math.IsInf(s[i], 0) {
			return Metric{}, fmt.Errorf("infer: variance %d of the metric is %g: want a positive number", i, v)
		}
	}
	return Metric{Scale: s}, nil
}

// DenseMetric returns the metric of a full covariance matrix.
func DenseMetric(cov [][]float64) (Metric, error) {
	n := len(cov)
	if n == 0 {
		return Metric{}, nil
	}
	sym := mat.NewSymDense(n, nil)
	for i, row := range cov {
		if len(row) != n {
			return Metric{}, fmt.Errorf("infer: row %d of the metric has %d entries: want %d", i, len(row), n)
		}
		for j := i; j < n; j++ {
			sym.SetSym(i, j, (row[j]+cov[j][i])/2)
		}
	}
	return DenseFrom(sym)
}

// DenseFrom is DenseMetric of a symmetric matrix.
func DenseFrom(cov mat.Symmetric) (Metric, error) {
	var c mat.Cholesky
	if !c.Factorize(cov) {
		return Metric{}, fmt.Errorf("infer: the covariance of the metric is not positive definite: add a small number to its diagonal")
	}
	var l mat.TriDense
	c.LTo(&l)
	n := cov.SymmetricDim()
	m := Metric{Chol: make([]float64, n*n)}
	for i := range n {
		for j := range i + 1 {
			if v := l.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return Metric{}, fmt.Errorf("infer: the covariance of the metric is not finite in row %d: want finite numbers", i)
			} else {
				m.Chol[i*n+j] = v
			}
		}
	}
	return m, nil
}

// LowRankMetric returns the metric of scales s, orthonormal directions U (one
// per row of vectors) and variances lambda along them in units of the scales.
func LowRankMetric(scale []float64, vectors [][]float64, lambda []float64) (Metric, error) {
	m := Metric{Scale: scale}
	for k, u := range vectors {
		if len(u) != len(scale) || len(vectors) != len(lambda) || !(lambda[k] > 0) {
			return Metric{}, fmt.Errorf("infer: direction %d of the metric does not fit the %d scales or lacks a positive variance: give each direction one number for each scale, and a variance", k, len(scale))
		}
		m.Vec = append(m.Vec, u...)
		m.Grow = append(m.Grow, math.Sqrt(lambda[k])-1)
	}
	return m, nil
}

// Dim returns the dimension, 0 for the identity of any dimension.
func (m *Metric) Dim() int {
	if m.Chol != nil {
		return int(math.Sqrt(float64(len(m.Chol))) + 0.5)
	}
	if m.Sparse != nil {
		return len(m.Sparse.Order)
	}
	return len(m.Scale)
}

// Rank returns the number of directions beyond the diagonal.
func (m *Metric) Rank() int { return len(m.Grow) }

// Same reports whether m and o are one metric, not just equal ones.
func (m *Metric) Same(o *Metric) bool {
	one := func(a, b []float64) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
	return m.Sparse == o.Sparse && one(m.Scale, o.Scale) && one(m.Vec, o.Vec) && one(m.Chol, o.Chol) &&
		len(m.Blocks) == len(o.Blocks) && (len(m.Blocks) == 0 || &m.Blocks[0] == &o.Blocks[0])
}

// Cov returns M^-1 = F F^T as a full matrix of dimension n.
func (m *Metric) Cov(n int) [][]float64 {
	out := make([][]float64, n)
	unit, w := make([]float64, n), make([]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
		clear(unit)
		unit[i] = 1
		m.Force(w, unit)
		m.Velocity(out[i], w)
	}
	return out
}

// Variances returns the diagonal of M^-1.
func (m *Metric) Variances(n int) []float64 {
	out := make([]float64, n)
	unit, w := make([]float64, n), make([]float64, n)
	for i := range out {
		clear(unit)
		unit[i] = 1
		m.Force(w, unit)
		out[i] = linalg.FastDot(w, w)
	}
	return out
}

// fewScales returns the scales of a diagonal metric of a few parameters, of which a leapfrog is made in one loop over them; nil for others.
func (m *Metric) fewScales() []float64 {
	if len(m.Scale) > 32 || len(m.Grow) > 0 || m.Blocks != nil || m.Chol != nil || m.Sparse != nil {
		return nil
	}
	return m.Scale
}

// Velocity writes F z, the change of q per unit time at momentum z.
func (m *Metric) Velocity(dst, z []float64) {
	switch {
	case m.Chol != nil:
		n := len(z)
		for i := range dst {
			dst[i] = linalg.FastDot(m.Chol[i*n:i*n+i+1], z[:i+1])
		}
		return
	case m.Sparse != nil:
		m.Sparse.solveTransposed(dst, z)
		return
	case m.Scale == nil:
		copy(dst, z)
		return
	case len(m.Grow) == 0:
		for i, s := range m.Scale {
			dst[i] = s * z[i]
		}
		for i := range m.Blocks {
			m.Blocks[i].times(dst, z)
		}
		return
	}
	copy(dst, z)
	m.scaleDirections(dst, 1)
	for i, s := range m.Scale {
		dst[i] *= s
	}
}

// Force writes F^T g, the change of z per unit time where the gradient is g.
func (m *Metric) Force(dst, g []float64) {
	switch {
	case m.Chol != nil:
		n := len(g)
		clear(dst)
		for i, v := range g {
			linalg.AddScaled(dst[:i+1], v, m.Chol[i*n:i*n+i+1])
		}
		return
	case m.Sparse != nil:
		m.Sparse.solve(dst, g)
		return
	case m.Scale == nil:
		copy(dst, g)
		return
	}
	for i, s := range m.Scale {
		dst[i] = s * g[i]
	}
	for i := range m.Blocks {
		m.Blocks[i].transposed(dst, g)
	}
	m.scaleDirections(dst, 1)
}

// Momentum writes p = F^-T z, the momentum in the parameters' own coordinates.
func (m *Metric) Momentum(dst, z []float64) {
	copy(dst, z)
	if m.Chol != nil {
		n := len(z)
		for i := n - 1; i >= 0; i-- {
			dst[i] /= m.Chol[i*n+i]
			linalg.AddScaled(dst[:i], -dst[i], m.Chol[i*n:i*n+i])
		}
		return
	}
	if m.Sparse != nil {
		m.Sparse.times(dst)
		return
	}
	m.scaleDirections(dst, -1)
	for i := range m.Blocks {
		m.Blocks[i].solve(dst)
	}
	for i, s := range m.Scale {
		dst[i] /= s
	}
}

// Whiten writes F^-1 q of a metric of scales and directions, or of a sparse one: coordinates in which parameters of that covariance are about as wide in every direction.
func (m *Metric) Whiten(dst, q []float64) {
	copy(dst, q)
	if m.Sparse != nil {
		m.Sparse.transposed(dst)
		return
	}
	for i, s := range m.Scale {
		dst[i] /= s
	}
	m.scaleDirections(dst, -1)
}

// scaleDirections multiplies v by sqrt(lambda) along every direction, or divides.
func (m *Metric) scaleDirections(v []float64, power int) {
	n := len(v)
	for k, g := range m.Grow {
		if power < 0 {
			g = 1/(1+g) - 1
		}
		u := m.Vec[k*n : (k+1)*n]
		linalg.AddScaled(v, g*linalg.FastDot(u, v), u)
	}
}
