// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lockstep

import (
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/given"
)

// Places computes the outputs of a density at one place in each lane.
type Places struct {
	memory *memory
	lanes  int
	// q holds the places, and out the outputs one after the other.
	q, out  []float64
	outputs int
}

// CompilePlaces compiles the outputs of a density for a number of lanes.
func CompilePlaces(d *Density, lanes int) (*ad.Program, error) {
	return ad.Compile(d.Outputs, ad.Settings{Inputs: slices.Concat(d.Parameters, d.Given), Batch: lanes, Batched: d.Parameters, Isolate: true, Backend: d.Backend})
}

// NewPlaces returns what runs a program of CompilePlaces.
func NewPlaces(prog *ad.Program, d *Density, lanes int) *Places {
	s, k := prog.NewState(), len(d.Parameters)
	p := &Places{memory: newMemory(s, lanes, func(i int) bool { return i < k }), lanes: lanes, q: s.InputSpan(0, k), outputs: len(d.Outputs)}
	p.memory.loadAll(k, d.Values)
	return p
}

// Put writes the place of a lane.
func (p *Places) Put(lane int, q []float64) { scatter(p.q, q, lane, p.lanes) }

// Run computes the outputs. An error, also one of a panic, may be of any lane.
func (p *Places) Run() (err error) {
	defer given.Caught(&err)
	if err := p.memory.run(); err != nil {
		return err
	}
	p.out = p.memory.state.OutputSpan(0, p.outputs)
	return p.memory.state.Err()
}

// Read reads numbers of the outputs in a lane, from a number of them on.
func (p *Places) Read(to []float64, from, lane int) { gather(to, p.out[from*p.lanes:], lane, p.lanes) }

// Number returns one of the numbers of the outputs in a lane.
func (p *Places) Number(k, lane int) float64 { return p.out[k*p.lanes+lane] }
