// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"fmt"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/assembly"
)

// Edges are the synapses of a fibre, source after source.
type Edges struct {
	Sources, Targets int
	// index of the first synapse of each source: those of source i are Start[i] to Start[i+1]
	Start  []int
	To     []int32   // target of each synapse, ascending within a source
	Weight []float64 // weight of each synapse; nil if all are 1
}

// Connect draws the synapses of a fibre onto f.N targets by a rule such as assembly.Hashed; nil
// stands for assembly.Bernoulli.
func Connect(f assembly.Fibre, sources int, rule func(dst []int32, f assembly.Fibre, source int) []int32) *Edges {
	if rule == nil {
		rule = assembly.Bernoulli
	}
	e := &Edges{Sources: sources, Targets: f.N, Start: make([]int, 1, sources+1)}
	for i := range sources {
		e.To = rule(e.To, f, i)
		e.Start = append(e.Start, len(e.To))
	}
	return e
}

// Len returns the number of synapses; a nil Edges has none.
func (e *Edges) Len() int {
	if e == nil {
		return 0
	}
	return len(e.To)
}

// places returns the index of each synapse in the dense matrix [Sources, Targets].
func (e *Edges) places() []int {
	out := make([]int, 0, len(e.To))
	for i := range e.Sources {
		for _, j := range e.To[e.Start[i]:e.Start[i+1]] {
			out = append(out, i*e.Targets+int(j))
		}
	}
	return out
}

// weights returns the weights before training.
func (e *Edges) weights() []float64 {
	if e.Weight != nil {
		return e.Weight
	}
	w := make([]float64, len(e.To))
	for i := range w {
		w[i] = 1
	}
	return w
}

func (e *Edges) check() error {
	if e == nil {
		return fmt.Errorf("the edges are missing: make them with Connect")
	}
	if len(e.Start) != e.Sources+1 || e.Start[e.Sources] != len(e.To) {
		return fmt.Errorf("the edges of %s have %s and %s: Start needs one element for each source and, at the end, the number of targets", errtext.Count(e.Sources, "source"), errtext.Count(len(e.Start), "start"), errtext.Count(len(e.To), "target"))
	}
	if e.Weight != nil && len(e.Weight) != len(e.To) {
		return fmt.Errorf("there are %d weights, but %s: give one for each synapse, or none", len(e.Weight), errtext.Count(len(e.To), "synapse"))
	}
	for i := range e.Sources {
		if e.Start[i] < 0 || e.Start[i] > e.Start[i+1] {
			return fmt.Errorf("source %d starts at synapse %d and ends at %d: the starts must not descend", i, e.Start[i], e.Start[i+1])
		}
		last := int32(-1)
		for _, j := range e.To[e.Start[i]:e.Start[i+1]] {
			if j <= last || int(j) >= e.Targets {
				return fmt.Errorf("source %d has target %d after %d: targets must ascend and be below %d", i, j, last, e.Targets)
			}
			last = j
		}
	}
	return nil
}
