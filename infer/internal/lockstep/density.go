// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lockstep

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// densityProgram makes leapfrog steps lane by lane, of which only the log density and its
// gradient are computed together.
type densityProgram struct {
	memory *memory
	lanes  int
	// given is the number of the first input of the data, and batched the numbers of the
	// inputs that differ from lane to lane.
	given   int
	batched []int
	// q holds the positions, g the gradients and lp the log densities of all lanes.
	q, g, lp []float64
}

// newDensityProgram compiles a density and its gradient.
func newDensityProgram(d *Density, lanes int) (*ad.Program, func() integrator, error) {
	k := len(d.Parameters)
	inputs, batched := slices.Concat(d.Parameters, d.Given), slices.Concat(d.Parameters, d.Batched)
	prog, err := ad.Compile(d.Outputs, ad.Settings{Inputs: inputs, Batch: lanes, Batched: batched, Isolate: true, Backend: d.Backend})
	return prog, func() integrator {
		s := prog.NewState()
		m := &densityProgram{memory: newMemory(s, lanes, func(i int) bool { return i < k }), lanes: lanes, given: k, batched: placesOf(inputs, batched), q: s.InputSpan(0, k), g: s.OutputSpan(1, 1+k), lp: s.Output(0)}
		m.memory.loadAll(k, d.Values)
		return m
	}, err
}

func (m *densityProgram) load(lane int, values [][]float64) {
	m.memory.load(m.given, lane, values)
}

// place makes the first half of a leapfrog step.
func (m *densityProgram) place(lane int, t *hamiltonian.Tree, _ bool) {
	end, eps := &t.Ends[t.Side], t.Step()
	linalg.AddScaled(end.Z, eps/2, end.W)
	t.Metric.Velocity(t.V, end.Z)
	linalg.AddScaled(end.Q, eps, t.V)
	scatter(m.q, end.Q, lane, m.lanes)
}

func (m *densityProgram) run() error { return m.memory.run() }

// fetch makes the second half of a leapfrog step.
func (m *densityProgram) fetch(lane int, t *hamiltonian.Tree) (h, e float64) {
	end := &t.Ends[t.Side]
	gather(end.G, m.g, lane, m.lanes)
	end.Lp = m.lp[lane]
	t.Metric.Force(end.W, end.G)
	linalg.AddScaled(end.Z, t.Step()/2, end.W)
	t.Next().Hold(t.Mem, end)
	h = end.Energy()
	return h, math.Exp(-math.Abs(t.H0 - h))
}

func (m *densityProgram) leave(int, *hamiltonian.Point) {}

func (m *densityProgram) alone(_ int, t *hamiltonian.Tree) (err error) {
	end := &t.Ends[t.Side]
	end.Lp, err = t.Target.LogProbGrad(end.Q, end.G)
	return err
}

func (m *densityProgram) imitate(lane, other int) { m.memory.imitate(lane, other, m.batched) }

func (m *densityProgram) park(lane int, q []float64) { scatter(m.q, q, lane, m.lanes) }
