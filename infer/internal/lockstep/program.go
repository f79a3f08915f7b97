// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lockstep

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/infer/internal/warmup"
)

// Density is a log density as a graph.
type Density struct {
	// Outputs are the log density and its gradient with respect to each of Parameters.
	Outputs []*ad.Node
	// Parameters are the unconstrained parameters, and Given the other inputs.
	Parameters, Given []*ad.Node
	// Batched are those of Given that differ from lane to lane.
	Batched []*ad.Node
	// Values are the values of Given to begin with.
	Values [][]float64
	// Backend runs the lanes.
	Backend ad.Backend
}

// dim is the number of unconstrained parameters.
func (d *Density) dim() (n int) {
	for _, x := range d.Parameters {
		n += x.Size()
	}
	return n
}

// integrator makes the leapfrog steps of all lanes.
type integrator interface {
	// load puts the data of a chain into a lane.
	load(lane int, values [][]float64)
	// place tells a lane where its tree grows on and by which step: from the place
	// where it is unless moved.
	place(lane int, t *hamiltonian.Tree, moved bool)
	// run makes one leapfrog step in every lane.
	run() error
	// fetch writes the place that the end of a tree has reached into its next leaf. It
	// returns the energy h there and exp(-|H0 - h|).
	fetch(lane int, t *hamiltonian.Tree) (h, e float64)
	// leave writes the place of a lane into the end of its tree.
	leave(lane int, end *hamiltonian.Point)
	// alone moves the end of a tree by the scalar program, where run has failed.
	alone(lane int, t *hamiltonian.Tree) error
	// imitate gives a lane all inputs of another.
	imitate(lane, other int)
	// park lets a vacant lane stay at q, where its data have a density.
	park(lane int, q []float64)
}

// Program is a density compiled for a number of lanes. It serves many runners.
type Program struct {
	lanes  int
	start  func() integrator
	device string
}

// Device returns where the program runs: "cpu", or a GPU such as "cuda:0".
func (p *Program) Device() string { return p.device }

// Compile compiles a density for a number of lanes.
func Compile(d *Density, lanes int) (*Program, error) {
	start, err := newDensityProgram, error(nil)
	if d.dim() <= warmup.SmallDim {
		start = newLeapfrogProgram
	}
	p := &Program{lanes: lanes}
	var prog *ad.Program
	if prog, p.start, err = start(d, lanes); err == nil {
		p.device = prog.Device()
	}
	return p, err
}

// NewRunner returns a runner of the chains of a queue.
func (p *Program) NewRunner(q Queue) *Runner {
	return &Runner{queue: q, integrator: p.start(), lanes: make([]lane, p.lanes)}
}
