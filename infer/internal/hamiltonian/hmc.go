// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import (
	"math"

	"github.com/euryale-dev/euryale/tensor"
)

// FixedLength makes transitions of Hamiltonian Monte Carlo with trajectories of a fixed number of steps, whose end is accepted
// or not.
type FixedLength struct {
	Trajectory
	// Steps is the number of leapfrog steps.
	Steps int
	// Jitter draws the number of leapfrog steps from 1 to Steps.
	Jitter bool
}

// NewFixedLength makes the workspace of the transitions of one chain. The random streams are those of momenta, and of
// acceptance and the number of steps.
func NewFixedLength(t Density, m *Metric, steps int, maxError float64, momentum, choice *tensor.Stream) *FixedLength {
	return &FixedLength{Trajectory: newTrajectory(t, m, maxError, momentum, choice), Steps: steps}
}

// Move makes one transition from p with step eps and leaves the draw in p. If it is interrupted or the target fails, p is unchanged.
func (t *FixedLength) Move(p *Point, eps float64) (*Transition, error) {
	t.DrawMomentum(p)
	t.reset(p)
	steps := t.Steps
	if t.Jitter {
		steps = 1 + int(t.choice.Float64()*float64(t.Steps))
	}
	end := &t.Ends[1]
	for range steps {
		if t.Interrupt() {
			t.Out.Aborted = true
			return &t.Out, nil
		}
		err := t.Leapfrog(end, eps)
		t.Out.Steps++
		if err != nil && !Recoverable(err) {
			return &t.Out, err
		}
		h := math.Inf(1)
		if err == nil {
			h = end.Energy()
		}
		t.Out.MaxError = math.Max(t.Out.MaxError, math.Abs(h-t.H0))
		if !(h-t.H0 <= t.MaxError) {
			t.diverge(end, h-t.H0, err)
			break
		}
	}
	t.accept(p, end, end.Energy())
	return &t.Out, nil
}

// Begin draws a momentum at p and puts the ends there. Who follows the trajectory moves Ends[1], calls Followed, and
// then End.
func (t *FixedLength) Begin(p *Point) {
	t.DrawMomentum(p)
	t.reset(p)
}

// Followed says how many steps were made, the largest energy error of them, the energy at the end, and whether no step
// diverged.
func (t *FixedLength) Followed(steps int, worst, energy float64, alive bool) {
	t.Count += steps
	t.Out.Steps, t.Out.MaxError, t.Out.Energy = steps, worst, energy
	if !alive {
		if math.IsNaN(energy) {
			energy = math.Inf(1)
		}
		t.diverge(&t.Ends[1], energy-t.H0, nil)
	}
}

// End leaves the draw in p, and reports whether it is the end.
func (t *FixedLength) End(p *Point) (out *Transition, moved bool, err error) {
	if math.IsInf(t.Ends[1].Lp, 1) {
		return &t.Out, false, ErrInfinite
	}
	t.accept(p, &t.Ends[1], t.Out.Energy)
	return &t.Out, t.Out.Index > 0, nil
}

// accept moves p to the end of a trajectory, of energy h, or stays.
func (t *FixedLength) accept(p, end *Point, h float64) {
	d := math.Inf(-1)
	if !t.Out.Divergent {
		d = t.H0 - h
	}
	rate := math.Exp(math.Min(d, 0))
	n := float64(t.Out.Steps)
	t.Out.Accept, t.Out.Symmetric = rate*n, rate*n // rates are means over steps
	t.Out.Energy = t.H0
	if t.Out.Divergent {
		t.Out.StartedAt = append([]float64(nil), p.Q...)
	}
	if t.choice.Float64() < rate {
		t.Out.Energy, t.Out.EnergyError, t.Out.Index = h, -d, t.Out.Steps
		copy(p.Q, end.Q)
		copy(p.G, end.G)
		p.Lp = end.Lp
	}
}
