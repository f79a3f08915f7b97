// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import "github.com/euryale-dev/euryale/internal/checkpoint"

// Save writes m into a checkpoint.
func (m *Metric) Save(w *checkpoint.Encoder) {
	for _, v := range [][]float64{m.Scale, m.Vec, m.Grow, m.Chol} {
		w.Floats(v)
	}
	m.saveBlocks(w)
}

// Load reads what Save wrote, for dim parameters.
func (m *Metric) Load(r *checkpoint.Decoder, dim int) {
	for _, v := range []*[]float64{&m.Scale, &m.Vec, &m.Grow, &m.Chol} {
		if *v = r.Floats(); len(*v) == 0 {
			*v = nil
		}
	}
	m.loadBlocks(r)
	if !m.Fits(dim) {
		r.Fail("holds a metric that does not fit %d parameters", dim)
		*m = Metric{}
	}
	if m.Sparse != nil {
		m.Sparse.prepare()
	}
}

// Fits reports whether m can be the metric of dim parameters.
func (m *Metric) Fits(dim int) bool {
	if m.Sparse != nil {
		return m.Sparse.fits(dim) && m.Scale == nil && m.Vec == nil && m.Grow == nil && m.Chol == nil && m.Blocks == nil
	}
	return (m.Scale == nil || len(m.Scale) == dim) &&
		len(m.Vec) == len(m.Grow)*dim && (m.Grow == nil || m.Scale != nil) &&
		(m.Chol == nil || len(m.Chol) == dim*dim && m.Scale == nil) && m.blocksFit(dim)
}

func (m *Metric) saveBlocks(w *checkpoint.Encoder) {
	blocks := m.Blocks
	if m.Sparse != nil {
		blocks = []BlockFactor{m.Sparse.asBlock()}
	}
	w.Int(len(blocks))
	for _, b := range blocks {
		w.Int(len(b.At))
		for _, i := range b.At {
			w.Int(i)
		}
		w.Floats(b.Chol)
	}
}

func (m *Metric) loadBlocks(r *checkpoint.Decoder) {
	m.Blocks, m.Sparse = nil, nil
	for range r.Count(16) {
		var b BlockFactor
		for range r.Count(8) {
			b.At = append(b.At, r.Int())
		}
		b.Chol = r.Floats()
		if m.Sparse = sparseOf(b); m.Sparse == nil {
			m.Blocks = append(m.Blocks, b)
		}
	}
}

// blocksFit reports whether the blocks can belong to the metric of dim parameters.
func (m *Metric) blocksFit(dim int) bool {
	taken := map[int]bool{}
	for _, b := range m.Blocks {
		for _, i := range b.At {
			if i < 0 || i >= dim || taken[i] {
				return false
			}
			taken[i] = true
		}
		if len(b.Chol) != len(b.At)*len(b.At) || m.Scale == nil || len(m.Grow) > 0 {
			return false
		}
	}
	return true
}
