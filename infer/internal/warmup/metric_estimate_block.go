// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

import (
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/checkpoint"
)

// blockEstimator learns variances and, inside blocks, covariances.
type blockEstimator struct {
	all    *diagEstimator
	at     [][]int
	blocks []*denseEstimator
	part   []float64
}

// NewBlockEstimator makes what learns variances and, of the parameters at each list of
// places, covariances.
func NewBlockEstimator(at [][]int, dim int, stanShrink bool) *blockEstimator {
	e := &blockEstimator{all: &diagEstimator{q: newMoments(dim), g: newMoments(dim), shrink: stanShrink}, at: at, part: make([]float64, dim)}
	for _, b := range at {
		e.blocks = append(e.blocks, newDenseEstimator(len(b), stanShrink))
	}
	return e
}

func (e *blockEstimator) Count() int { return e.all.Count() }

func (e *blockEstimator) Reset() {
	e.all.Reset()
	for _, b := range e.blocks {
		b.Reset()
	}
}

func (e *blockEstimator) Add(q, g []float64) {
	e.all.Add(q, g)
	for k, b := range e.blocks {
		part := e.part[:len(e.at[k])]
		for i, from := range e.at[k] {
			part[i] = q[from]
		}
		b.Add(part, nil)
	}
}

func (e *blockEstimator) Metric() (hamiltonian.Metric, bool) {
	m, ok := e.all.Metric()
	if !ok {
		return hamiltonian.Metric{}, false
	}
	for k, b := range e.blocks {
		dense, ok := b.Metric()
		if !ok {
			return hamiltonian.Metric{}, false
		}
		m.Blocks = append(m.Blocks, hamiltonian.BlockFactor{At: e.at[k], Chol: dense.Chol})
	}
	return m, true
}

func (e *blockEstimator) Save(w *checkpoint.Encoder) {
	e.all.Save(w)
	for _, b := range e.blocks {
		b.Save(w)
	}
}

func (e *blockEstimator) Load(r *checkpoint.Decoder) {
	e.all.Load(r)
	for _, b := range e.blocks {
		b.Load(r)
	}
}
