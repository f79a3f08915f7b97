// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import "math"

// MoveHMC makes one transition of HMC from p and leaves the draw in p.
func (t *Trajectory) MoveHMC(p *Point, eps float64) (*Transition, error) {
	t.DrawMomentum(p)
	t.reset(p)
	steps := t.Steps
	if t.JitterSteps {
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

// BeginHMC draws a momentum at p and puts the ends there. Who follows the trajectory moves Ends[1], calls Followed, and
// then EndHMC.
func (t *Trajectory) BeginHMC(p *Point) {
	t.DrawMomentum(p)
	t.reset(p)
}

// Followed says how many steps were made, the largest energy error of them, the energy at the end, and whether no step
// diverged.
func (t *Trajectory) Followed(steps int, worst, energy float64, alive bool) {
	t.Count += steps
	t.Out.Steps, t.Out.MaxError, t.Out.Energy = steps, worst, energy
	if !alive {
		if math.IsNaN(energy) {
			energy = math.Inf(1)
		}
		t.diverge(&t.Ends[1], energy-t.H0, nil)
	}
}

// EndHMC leaves the draw in p, and reports whether it is the end.
func (t *Trajectory) EndHMC(p *Point) (out *Transition, moved bool, err error) {
	if math.IsInf(t.Ends[1].Lp, 1) {
		return &t.Out, false, ErrInfinite
	}
	t.accept(p, &t.Ends[1], t.Out.Energy)
	return &t.Out, t.Out.Index > 0, nil
}

// accept moves p to the end of a trajectory, of energy h, or stays.
func (t *Trajectory) accept(p, end *Point, h float64) {
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
