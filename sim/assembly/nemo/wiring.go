// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import (
	"fmt"
	"hash/fnv"

	"github.com/euryale-dev/euryale/sim/assembly"
	"github.com/euryale-dev/euryale/tensor"
)

// Purposes of the random streams.
const (
	purposeWiring uint32 = 511 + iota
	purposeFlip
	purposeNoise
)

// Wiring draws matrices: each synapse exists with probability P and has weight 1.
type Wiring struct {
	P    float64 // probability of a synapse, 0 to 1
	Seed uint64
	// NoLoops leaves out synapses between neurons of the same number.
	NoLoops bool
}

// Matrix draws the synapses of a named fibre. The same seed and name give the same synapses.
func (w Wiring) Matrix(name string, sources, targets int) (*Matrix, error) {
	if !(w.P >= 0 && w.P <= 1) {
		return nil, fmt.Errorf("nemo: fibre %s has synapses with probability %g: want 0 to 1", name, w.P)
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	key := tensor.NewStream(w.Seed, purposeWiring, h.Sum32())
	f := assembly.Fibre{Seed: key.Uint64(), P: w.P, N: targets}
	var room []int32
	var list []Synapse
	m, err := NewMatrix(sources, targets, func(i int) []Synapse {
		room, list = assembly.Bernoulli(room[:0], f, i), list[:0]
		for _, j := range room {
			if !w.NoLoops || int(j) != i {
				list = append(list, Synapse{j, 1})
			}
		}
		return list
	})
	if err != nil {
		return nil, err
	}
	m.drawn = true
	return m, nil
}

// drawing draws several matrices and collects their first error.
type drawing struct {
	Wiring
	err error
}

func (d *drawing) matrix(name string, sources, targets int) *Matrix {
	m, err := d.Matrix(name, sources, targets)
	if d.err == nil {
		d.err = err
	}
	return m
}

func (d *drawing) area(n, k int, beta float64) *Area {
	a, err := NewArea(n, k, beta)
	if d.err == nil {
		d.err = err
	}
	return a
}

// Block returns neurons i k to (i+1) k - 1.
func Block(i, k int) []int32 {
	w := make([]int32, max(k, 0))
	for j := range w {
		w[j] = int32(i*k + j)
	}
	return w
}

// Nearest returns which of the first blocks of k neurons shares most neurons with those given, the
// lower among equals, and how many; -1 if none shares any.
func Nearest(neurons []int32, k, blocks int) (block, overlap int) {
	count := make([]int, max(blocks, 1))
	for _, j := range neurons {
		if b := int(j) / max(k, 1); b >= 0 && b < len(count) {
			count[b]++
		}
	}
	block = -1
	for b, n := range count {
		if n > overlap {
			block, overlap = b, n
		}
	}
	return block, overlap
}

// orElse returns v, or the default d where v is zero.
func orElse(v, d int) int {
	if v == 0 {
		return d
	}
	return v
}

func orElseFloat(v, d float64) float64 {
	if v == 0 {
		return d
	}
	return v
}
