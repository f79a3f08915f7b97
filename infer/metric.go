// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import "github.com/euryale-dev/euryale/infer/internal/hamiltonian"

// Metric is the inverse mass matrix of a sampler, an estimate of the posterior
// covariance, as a factor F with F F^T = M^-1: in the whitened coordinates F^-1 q the
// posterior is about as wide in every direction.
//
//	diagonal            F = diag(s)
//	low rank            F = diag(s) (I + U (diag(sqrt(lambda)) - 1) U^T)
//	dense               F = L, the Cholesky factor
//	blocks              F = L inside each block, s elsewhere
//
// The zero Metric is the identity of any dimension. A Metric never changes and may be
// shared.
type Metric struct{ m hamiltonian.Metric }

// DiagMetric returns the metric of parameters with the given variances.
func DiagMetric(variances []float64) (Metric, error) {
	m, err := hamiltonian.DiagMetric(variances)
	return Metric{m}, err
}

// DenseMetric returns the metric of a full covariance matrix.
func DenseMetric(cov [][]float64) (Metric, error) {
	m, err := hamiltonian.DenseMetric(cov)
	return Metric{m}, err
}

// LowRankMetric returns the metric of scales s, orthonormal directions U (one per row of
// vectors) and variances lambda along them in units of the scales.
func LowRankMetric(scale []float64, vectors [][]float64, lambda []float64) (Metric, error) {
	m, err := hamiltonian.LowRankMetric(scale, vectors, lambda)
	return Metric{m}, err
}

// Block is a group of parameters and their covariance in a BlockMetric.
type Block = hamiltonian.Block

// BlockMetric returns the metric that is a full covariance inside each block and diagonal
// elsewhere: variances holds one number per parameter, of which those inside a block do
// not count. A step costs the sum of the squares of the blocks.
func BlockMetric(variances []float64, blocks ...Block) (Metric, error) {
	m, err := hamiltonian.BlockMetric(variances, blocks...)
	return Metric{m}, err
}

// Dim returns the dimension, 0 for the identity of any dimension.
func (m *Metric) Dim() int { return m.m.Dim() }

// Rank returns the number of directions beyond the diagonal.
func (m *Metric) Rank() int { return m.m.Rank() }

// Interactions returns the number of entries of the Cholesky factor of a sparse precision, which the warm-up learns where each parameter interacts with few
// others, such as those of a time series. It is 0 for other metrics.
func (m *Metric) Interactions() int {
	if m.m.Sparse == nil {
		return 0
	}
	return len(m.m.Sparse.L)
}

// Cov returns M^-1 = F F^T as a full matrix of dimension n.
func (m *Metric) Cov(n int) [][]float64 { return m.m.Cov(n) }

// Variances returns the diagonal of M^-1.
func (m *Metric) Variances(n int) []float64 { return m.m.Variances(n) }
