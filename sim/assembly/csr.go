// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"fmt"
	"math"
	"slices"
)

// CSR holds the synapses of a fibre in compressed sparse row form. Source neuron i connects to
// Targets[Starts[i]:Starts[i+1]], in order; Weights holds the weights at the same places. It matches
// SciPy's csr_array, see WriteNPZ and ReadCSR.
type CSR struct {
	Starts  []int64
	Targets []int32
	Weights []float64
	Columns int // number of target neurons; 0 for the fewest that hold all Targets
}

// CSR returns all synapses of a fibre between areas: about n times n P of them.
func (b *Brain) CSR(from, to string) (*CSR, error) {
	f, err := b.fibre(from, to)
	if err != nil {
		return nil, err
	}
	if f.stimulus != nil {
		return nil, fmt.Errorf("assembly: the neurons of stimulus %s fire as one, so that their synapses are not kept apart: ask for a fibre between areas", from)
	}
	c := &CSR{Starts: make([]int64, f.from.stored()+1), Columns: f.target.stored()}
	f.each(b, func(from, to int32, w float64) {
		if f.scale != nil {
			w *= f.scale[to]
		}
		c.Targets, c.Weights = append(c.Targets, to), append(c.Weights, w)
		c.Starts[from+1]++
	})
	for i := range f.from.stored() {
		c.Starts[i+1] += c.Starts[i]
	}
	return c, nil
}

// SetCSR replaces the synapses of a fibre between areas. Neither area may be lazy, and the fibre may
// not yet be part of a plan.
func (b *Brain) SetCSR(from, to string, c *CSR) error {
	f, err := b.fibre(from, to)
	if err != nil {
		return err
	}
	switch {
	case f.synapses == nil || f.from.Lazy:
		return fmt.Errorf("assembly: fibre %s>%s cannot be given synapses: both areas must have all their neurons, so neither may be lazy or a stimulus", from, to)
	case f.planned:
		return fmt.Errorf("assembly: fibre %s>%s already has its synapses: give them before it is part of a plan", from, to)
	}
	if c == nil {
		return fmt.Errorf("assembly: the synapses of fibre %s>%s are missing: pass a CSR", from, to)
	}
	if err := c.check(f.from.N, f.N); err != nil {
		return fmt.Errorf("assembly: fibre %s>%s: %w", from, to, err)
	}
	b.detach()
	f.given, f.scale = true, nil
	for i := range f.from.N {
		to := c.Targets[c.Starts[i]:c.Starts[i+1]]
		r := &row{links: newLinks(to, f.N)}
		for k, j := range to {
			if w := c.Weights[int(c.Starts[i])+k]; w != 1 {
				r.to, r.weight = append(r.to, j), append(r.weight, w)
			}
		}
		f.synapses.rows[int32(i)] = r
	}
	return nil
}

func (c *CSR) check(sources, targets int) error {
	if len(c.Starts) != sources+1 || len(c.Targets) != len(c.Weights) || c.Starts[0] != 0 || c.Starts[sources] != int64(len(c.Targets)) || !slices.IsSorted(c.Starts) {
		return fmt.Errorf("the synapses have %d starts of rows, %d targets and %d weights: want a start for each of %d rows and the end, and as many weights as targets", len(c.Starts), len(c.Targets), len(c.Weights), sources)
	}
	if c.Columns > targets {
		return fmt.Errorf("the synapses lead onto %d neurons, but the area has only %d", c.Columns, targets)
	}
	for i := range sources {
		row := c.Targets[c.Starts[i]:c.Starts[i+1]]
		for k, j := range row {
			w := c.Weights[int(c.Starts[i])+k]
			if j < 0 || int(j) >= targets || k > 0 && j <= row[k-1] || math.IsNaN(w) || math.IsInf(w, 0) {
				return fmt.Errorf("synapse %d of neuron %d leads to %d with weight %g: want different targets in ascending order, below %d, and finite weights", k, i, j, w, targets)
			}
		}
	}
	return nil
}

// Statistics describes a fibre between areas. Means and variances over nothing are NaN.
type Statistics struct {
	Synapses            int
	Density             float64 // fraction of all pairs of stored neurons that are connected
	InMean, InVariance  float64 // mean and variance of the number of synapses onto a target neuron
	OutMean, OutVar     float64 // mean and variance of the number of synapses from a source neuron
	WeightMean, Largest float64 // mean and largest weight of the synapses
	Grown               int     // number of synapses whose weight is not 1
}

// Statistics counts the synapses of a fibre between areas.
func (b *Brain) Statistics(from, to string) (Statistics, error) {
	c, err := b.CSR(from, to)
	if err != nil {
		return Statistics{}, err
	}
	f, _ := b.fibre(from, to)
	in, out := make([]float64, f.target.stored()), make([]float64, f.from.stored())
	s := Statistics{Synapses: len(c.Targets)}
	for i := range out {
		for k := c.Starts[i]; k < c.Starts[i+1]; k++ {
			w := c.Weights[k]
			in[c.Targets[k]]++
			out[i]++
			s.WeightMean += w / float64(len(c.Targets))
			s.Largest = max(s.Largest, w)
			if w != 1 {
				s.Grown++
			}
		}
	}
	if s.Density = float64(s.Synapses) / float64(len(in)*len(out)); s.Synapses == 0 {
		s.WeightMean = math.NaN()
	}
	s.InMean, s.InVariance = moments(in)
	s.OutMean, s.OutVar = moments(out)
	return s, nil
}

func moments(v []float64) (mean, variance float64) {
	if len(v) == 0 {
		return math.NaN(), math.NaN()
	}
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		variance += (x - mean) * (x - mean) / float64(len(v))
	}
	return mean, variance
}

// Density returns the fraction of the pairs of an area's winners that are connected by the area's
// own fibre, and the mean weight of these synapses, or NaN if there are none. It returns a
// *SilentError if nothing fires.
func (b *Brain) Density(area string) (density, weight float64, err error) {
	f, err := b.fibre(area, area)
	if err != nil {
		return 0, 0, err
	}
	w := f.from.winners
	if len(w) == 0 {
		return 0, 0, f.from.silent("density of area " + area)
	}
	b.settle()
	n := 0
	count := func(v float64) {
		if v > 0 {
			n++
			weight += v
		}
	}
	b.markWinners(f.from.stored(), w, 1)
	for _, i := range w {
		if f.rows != nil {
			f.rows.each(i, func(j int32, v float32) { count(float64(v) * float64(b.isWinner[j+1])) })
			continue
		}
		for _, j := range w {
			count(f.weight(b, i, j))
		}
	}
	b.markWinners(f.from.stored(), w, 0)
	return float64(n) / float64(len(w)*len(w)), weight / float64(n), nil
}
