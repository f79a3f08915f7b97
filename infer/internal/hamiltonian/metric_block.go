// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import (
	"fmt"
	"slices"
)

// Block is a group of parameters and their covariance in a BlockMetric.
type Block struct {
	// Parameters are places among the unconstrained parameters.
	Parameters []int
	// Cov is their covariance, in their order.
	Cov [][]float64
}

// BlockFactor is a Block by its Cholesky factor.
type BlockFactor struct {
	At []int
	// Chol is the factor by rows, in a full square.
	Chol []float64
}

// BlockMetric returns the metric that is a full covariance inside each block
// and diagonal elsewhere: variances holds one number per parameter, of which
// those inside a block do not count. A step costs the sum of the squares of the
// blocks.
func BlockMetric(variances []float64, blocks ...Block) (Metric, error) {
	v := slices.Clone(variances)
	taken := make([]bool, len(v))
	var made []BlockFactor
	for k, b := range blocks {
		if len(b.Cov) != len(b.Parameters) || len(b.Cov) == 0 {
			return Metric{}, fmt.Errorf("infer: block %d of the metric has %d parameters and %d rows of covariance: want equal numbers of at least 1", k, len(b.Parameters), len(b.Cov))
		}
		for _, i := range b.Parameters {
			if i < 0 || i >= len(v) || taken[i] {
				return Metric{}, fmt.Errorf("infer: block %d of the metric has parameter %d: want indices from 0 to %d, each in one block", k, i, len(v)-1)
			}
			taken[i], v[i] = true, 1
		}
		dense, err := DenseMetric(b.Cov)
		if err != nil {
			return Metric{}, fmt.Errorf("block %d: %w", k, err)
		}
		made = append(made, BlockFactor{slices.Clone(b.Parameters), dense.Chol})
	}
	m, err := DiagMetric(v)
	m.Blocks = made
	return m, err
}

// times writes L z at the block's places of dst.
func (b *BlockFactor) times(dst, z []float64) {
	n := len(b.At)
	for i, to := range b.At {
		s := 0.0
		for j, l := range b.Chol[i*n : i*n+i+1] {
			s += l * z[b.At[j]]
		}
		dst[to] = s
	}
}

// transposed writes L^T g.
func (b *BlockFactor) transposed(dst, g []float64) {
	n := len(b.At)
	for _, to := range b.At {
		dst[to] = 0
	}
	for i, from := range b.At {
		for j, l := range b.Chol[i*n : i*n+i+1] {
			dst[b.At[j]] += l * g[from]
		}
	}
}

// solve replaces v by L^-T v.
func (b *BlockFactor) solve(v []float64) {
	n := len(b.At)
	for i := n - 1; i >= 0; i-- {
		x := v[b.At[i]] / b.Chol[i*n+i]
		v[b.At[i]] = x
		for j, l := range b.Chol[i*n : i*n+i] {
			v[b.At[j]] -= l * x
		}
	}
}
