// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import "github.com/euryale-dev/euryale/tensor"

// Trajectory is what the transitions of all samplers share: the system, the random streams, the ends and what a transition did. It
// finds step sizes. Tree and FixedLength make transitions.
type Trajectory struct {
	System
	// MaxError is the energy error of a divergence.
	MaxError float64
	// momentum is the random stream of momenta.
	momentum *tensor.Stream
	// choice is the random stream of all other decisions.
	choice *tensor.Stream
	// Interrupt is asked before every step.
	Interrupt func() bool

	// Ends are the backward and the forward end.
	Ends [2]Point
	Out  Transition
	// H0 is the energy at the start.
	H0 float64
}

func newTrajectory(t Density, m *Metric, maxError float64, momentum, choice *tensor.Stream) Trajectory {
	n := t.Dim()
	return Trajectory{
		System:   System{Target: t, Metric: m, V: make([]float64, n)},
		MaxError: maxError, momentum: momentum, choice: choice, Interrupt: func() bool { return false },
		Ends: [2]Point{NewPoint(n), NewPoint(n)},
	}
}

// DrawMomentum draws the momentum at p.
func (t *Trajectory) DrawMomentum(p *Point) {
	t.Arrive(p, 0) // the force, by the metric of now
	t.momentum.NormalTo(p.Z)
}

// reset puts both ends at p.
func (t *Trajectory) reset(p *Point) {
	t.Out = Transition{}
	t.Ends[0].Set(p)
	t.Ends[1].Set(p)
	t.H0 = p.Energy()
}

// diverge ends the trajectory at a point with an energy error that is too large.
func (t *Trajectory) diverge(end *Point, energyError float64, err error) {
	t.Out.Divergent = true
	t.Out.Message = complaint(end, energyError, t.MaxError, err)
	t.Out.DivergedAt = append([]float64(nil), end.Q...)
	t.Out.DivergedError = energyError
}
