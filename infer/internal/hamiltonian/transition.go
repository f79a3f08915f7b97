// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

// Transition describes what a transition did.
type Transition struct {
	// Steps is the number of steps, and so of leaves.
	Depth, Steps int
	// Refined is the number of soft steps that are made of several leapfrogs, and Gradients that of all leapfrogs of soft steps.
	Refined, Gradients int
	Divergent          bool
	Turned             bool
	// Index is the number of the leaf of the draw, counted from the start, which is 0.
	Index int
	// Weight is the sum of exp(H0 - H) over exp(Shift).
	Weight float64
	// Accept is the sum over leaves of min(1, exp(H0 - H)).
	Accept float64
	// Symmetric is the sum over leaves of 2 min(1, e^D)/(1 + e^D), D = H0 - H.
	Symmetric float64
	// Energy is the energy of the draw.
	Energy float64
	// EnergyError is H - H0 of the draw.
	EnergyError float64
	// MaxError is the largest |H - H0| of a leaf.
	MaxError float64
	// Message says why the trajectory diverged.
	Message string
	// StartedAt is where a trajectory that diverged began.
	StartedAt []float64
	// DivergedAt is where it ended.
	DivergedAt    []float64
	DivergedError float64
	Aborted       bool
}

// Rate returns the mean over the leaves of the symmetric statistic or of Metropolis's.
func (o *Transition) Rate(symmetric bool) float64 {
	switch {
	case o.Steps == 0:
		return 1
	case !symmetric:
		return o.Accept / float64(o.Steps)
	}
	return o.Symmetric / float64(o.Steps)
}

// rate adds a leaf with H0 - H = d and e = exp(-|d|) to the statistics.
func (o *Transition) rate(d, e float64) {
	o.Symmetric += 2 * e / (1 + e)
	if d >= 0 {
		o.Accept++
	} else {
		o.Accept += e
	}
}

// Leapfrogs returns the number of gradients of the trajectory.
func (o *Transition) Leapfrogs() int { return max(o.Steps, o.Gradients) }

// Usable reports whether the draw tells something about the posterior: it moved,
// and not just a few steps out of a divergent trajectory.
func (o *Transition) Usable() bool {
	if o.Divergent {
		return o.Index > 4 || o.Index < -4
	}
	return o.Index != 0
}
