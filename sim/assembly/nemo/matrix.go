// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import (
	"fmt"
	"math"
	"slices"
)

// Matrix holds the synapses from one population to another, by source neuron and in order of the
// targets.
type Matrix struct {
	rows  []row
	n     int  // number of target neurons
	drawn bool // whether Wiring drew it and it has learnt nothing since
}

// row holds the synapses of one source neuron in two lists, because learning reads only the targets.
type row struct {
	to     []int32
	weight []float64
}

// Synapse is a connection to a neuron.
type Synapse struct {
	To     int32
	Weight float64
}

// NewMatrix makes the matrix from sources to targets, row by row. It returns an error if a row has a
// synapse outside the targets, out of rising order, or without a finite weight.
func NewMatrix(sources, targets int, synapses func(source int) []Synapse) (*Matrix, error) {
	if min(sources, targets) < 1 || max(sources, targets) > math.MaxInt32 {
		return nil, fmt.Errorf("nemo: the matrix leads from %d neurons to %d: want at least one of each and less than 2^31", sources, targets)
	}
	m := &Matrix{rows: make([]row, sources), n: targets}
	for i := range m.rows {
		list := synapses(i)
		r := row{make([]int32, len(list)), make([]float64, len(list))}
		for k, s := range list {
			if s.To < 0 || int(s.To) >= targets || k > 0 && s.To <= list[k-1].To {
				return nil, fmt.Errorf("nemo: synapse %d of neuron %d leads to %d: want ascending numbers from 0 to %d", k, i, s.To, targets-1)
			}
			if notFinite(s.Weight) {
				return nil, fmt.Errorf("nemo: the synapse from neuron %d to %d has weight %g: want a finite number", i, s.To, s.Weight)
			}
			r.to[k], r.weight[k] = s.To, s.Weight
		}
		m.rows[i] = r
	}
	return m, nil
}

// Weight returns the weight of a synapse, 0 where there is none.
func (m *Matrix) Weight(source, target int) float64 {
	if source < 0 || source >= len(m.rows) {
		return 0
	}
	r := m.rows[source]
	if k, ok := slices.BinarySearch(r.to, int32(target)); ok {
		return r.weight[k]
	}
	return 0
}

// Synapses returns the number of synapses.
func (m *Matrix) Synapses() (n int) {
	for _, r := range m.rows {
		n += len(r.to)
	}
	return n
}

// Sources returns the number of source neurons.
func (m *Matrix) Sources() int { return len(m.rows) }

// Targets returns the number of target neurons.
func (m *Matrix) Targets() int { return m.n }

// Normalize divides the weights onto each neuron by their sum.
func (m *Matrix) Normalize() {
	sum := make([]float64, m.n)
	for _, r := range m.rows {
		for k, j := range r.to {
			sum[j] += r.weight[k]
		}
	}
	for _, r := range m.rows {
		for k, j := range r.to {
			if sum[j] != 0 {
				r.weight[k] /= sum[j]
			}
		}
	}
}

// Sum returns the sum of all weights.
func (m *Matrix) Sum() (sum float64) {
	for _, r := range m.rows {
		for _, w := range r.weight {
			sum += w
		}
	}
	return sum
}

// add adds the weights from the firing neurons to x.
func (m *Matrix) add(x []float64, firing []int32) {
	for _, i := range firing {
		r := m.rows[i]
		weight := r.weight[:len(r.to)]
		for k, j := range r.to {
			x[j] += weight[k]
		}
	}
}

// strengthen multiplies the weights from neurons that fired to neurons that fire now by factor.
func (m *Matrix) strengthen(firing []int32, wins []bool, factor float64) {
	m.drawn = m.drawn && (len(firing) == 0 || factor == 1)
	for _, i := range firing {
		r := m.rows[i]
		for k, j := range r.to {
			if wins[j] {
				r.weight[k] *= factor
			}
		}
	}
}

// between returns an error unless m leads between populations of these sizes.
func (m *Matrix) between(what string, sources, targets int) error {
	switch {
	case m == nil:
		return fmt.Errorf("nemo: the matrix %s is missing: give one of %d by %d neurons", what, sources, targets)
	case len(m.rows) != sources || m.n != targets:
		return fmt.Errorf("nemo: the matrix %s has %d by %d neurons: want %d by %d", what, len(m.rows), m.n, sources, targets)
	}
	return nil
}

// onto returns an error unless m leads to this number of targets.
func (m *Matrix) onto(what string, targets int) error {
	switch {
	case m == nil:
		return fmt.Errorf("nemo: the matrix %s is missing: give one onto %d neurons", what, targets)
	case m.n != targets:
		return fmt.Errorf("nemo: the matrix %s leads to %d neurons: want %d", what, m.n, targets)
	}
	return nil
}
