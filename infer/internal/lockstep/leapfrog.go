// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lockstep

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
)

// leapfrogProgram makes whole leapfrog steps in the program, where positions, momenta and
// energies are vectors over the lanes. Every metric is a dense factor there, so that all
// lanes are alike.
type leapfrogProgram struct {
	memory     *memory
	dim, lanes int
	// given is the number of the first input of the data, and batched the numbers of the
	// inputs that differ from lane to lane.
	given   int
	batched []int

	// from and to are the inputs and the outputs q, z and w, in this order.
	from, to []float64
	// factor is the factor F of the metric by rows, and metrics are those that it holds.
	factor  []float64
	metrics []hamiltonian.Metric
	// eps and h0 are the signed steps and the energies at the starts of the trees.
	eps, h0 []float64
	// g, lp, h and e are outputs: gradients, log densities, energies, exp(-|H0 - h|).
	g, lp, h, e []float64
	// column and unit are scratch of one vector.
	column, unit []float64
}

// inputFactor is the number of the input F.
const inputFactor = 3

// newLeapfrogProgram compiles the leapfrog step of a density. It is System.Leapfrog of
// package hamiltonian, here with
//
//	h = |z|^2/2 - lp,  e = exp(-|H0 - h|)
func newLeapfrogProgram(density *Density, lanes int) (*ad.Program, func() integrator, error) {
	d := density.dim()
	q, z, w, f := ad.Input("q", d), ad.Input("z", d), ad.Input("w", d), ad.Input("F", d, d)
	eps, h0 := ad.Input("eps"), ad.Input("H0")
	half := ad.Scale(0.5, eps)
	z1 := ad.Add(z, ad.Mul(half, w))
	q1 := ad.Add(q, ad.Mul(eps, ad.SumAxes(ad.Mul(f, ad.Reshape(z1, 1, d)), 1)))
	lp, g := density.at(q1)
	w1 := ad.SumAxes(ad.Mul(f, ad.Reshape(g, d, 1)), 0)
	z2 := ad.Add(z1, ad.Mul(half, w1))
	h := ad.Sub(ad.Scale(0.5, ad.Sum(ad.Square(z2))), lp)
	e := ad.Exp(ad.Neg(ad.Abs(ad.Sub(h0, h))))
	own := []*ad.Node{q, z, w, f, eps, h0}
	inputs, batched := slices.Concat(own, density.Given), slices.Concat(own, density.Batched)
	prog, err := ad.Compile([]*ad.Node{q1, z2, w1, g, lp, h, e}, ad.Settings{Inputs: inputs, Batch: lanes, Batched: batched, Isolate: true, Backend: density.Backend})
	return prog, func() integrator { return startLeapfrogProgram(prog, density, lanes, placesOf(inputs, batched)) }, err
}

// startLeapfrogProgram returns an integrator of a compiled program.
func startLeapfrogProgram(prog *ad.Program, density *Density, lanes int, batched []int) *leapfrogProgram {
	s, d := prog.NewState(), density.dim()
	// The metric and the data change seldom.
	mem := newMemory(s, lanes, func(i int) bool { return i < 6 && i != inputFactor })
	m := &leapfrogProgram{
		memory: mem, dim: d, lanes: lanes, given: 6, batched: batched, from: s.InputSpan(0, 3), to: s.OutputSpan(0, 3),
		factor: mem.in[inputFactor], eps: s.Input(4), h0: s.Input(5), g: s.Output(3), lp: s.Output(4), h: s.Output(5), e: s.Output(6),
		metrics: make([]hamiltonian.Metric, lanes), column: make([]float64, d), unit: make([]float64, d),
	}
	for lane := range lanes {
		m.setMetric(lane, &hamiltonian.Metric{})
	}
	mem.loadAll(m.given, density.Values)
	return m
}

func (m *leapfrogProgram) load(lane int, values [][]float64) {
	m.memory.load(m.given, lane, values)
}

func (m *leapfrogProgram) place(lane int, t *hamiltonian.Tree, moved bool) {
	m.eps[lane] = t.Step()
	if !moved {
		return
	}
	m.h0[lane] = t.H0
	if held := &m.metrics[lane]; !held.Same(t.Metric) {
		*held = *t.Metric
		m.setMetric(lane, held)
	}
	end, k := &t.Ends[t.Side], m.dim*m.lanes
	scatter(m.from[:k], end.Q, lane, m.lanes)
	scatter(m.from[k:2*k], end.Z, lane, m.lanes)
	scatter(m.from[2*k:], end.W, lane, m.lanes)
}

// setMetric writes a metric into a lane.
func (m *leapfrogProgram) setMetric(lane int, metric *hamiltonian.Metric) {
	m.memory.stale[inputFactor] = m.memory.stays[inputFactor]
	for j := range m.unit {
		clear(m.unit)
		m.unit[j] = 1
		metric.Velocity(m.column, m.unit)
		for i, v := range m.column {
			m.factor[(i*m.dim+j)*m.lanes+lane] = v
		}
	}
}

func (m *leapfrogProgram) run() error {
	if err := m.memory.run(); err != nil {
		return err
	}
	copy(m.from, m.to)
	return nil
}

func (m *leapfrogProgram) fetch(lane int, t *hamiltonian.Tree) (h, e float64) {
	s, d, n := t.Next(), m.dim, m.lanes
	q, g := s.Draw.Vectors(t.Mem, d)
	z := t.Mem[s.Room.First : s.Room.First+d]
	fromQ, fromZ, fromG, at := m.from, m.from[d*n:], m.g, lane
	for i := range z {
		q[i], z[i], g[i] = fromQ[at], fromZ[at], fromG[at]
		at += n
	}
	s.Draw.Lp = m.lp[lane]
	if h, e = m.h[lane], m.e[lane]; math.IsNaN(h) {
		return math.Inf(1), 0
	}
	return h, e
}

func (m *leapfrogProgram) leave(lane int, end *hamiltonian.Point) {
	d, n := m.dim, m.lanes
	gather(end.Q, m.from, lane, n)
	gather(end.Z, m.from[d*n:], lane, n)
	gather(end.W, m.from[2*d*n:], lane, n)
	gather(end.G, m.g, lane, n)
	end.Lp = m.lp[lane]
}

func (m *leapfrogProgram) alone(lane int, t *hamiltonian.Tree) error {
	end, k := &t.Ends[t.Side], m.dim*m.lanes
	gather(end.Q, m.from, lane, m.lanes)
	gather(end.Z, m.from[k:], lane, m.lanes)
	gather(end.W, m.from[2*k:], lane, m.lanes)
	err := t.Leapfrog(end, t.Step())
	t.Count-- // the runner counts it
	return err
}

func (m *leapfrogProgram) imitate(lane, other int) {
	m.memory.imitate(lane, other, m.batched)
	m.metrics[lane] = hamiltonian.Metric{Scale: make([]float64, 1)} // the metric of no tree
}

func (m *leapfrogProgram) park(lane int, q []float64) {
	m.eps[lane] = 0
	scatter(m.from[:m.dim*m.lanes], q, lane, m.lanes)
}
