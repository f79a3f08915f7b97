package hamiltonian

// Transition describes what a transition did.
type Transition struct {
	Depth, Steps  int
	Divergent     bool
	Turned        bool
	Index         int       // leaf of the draw, 0 is the start
	Weight        float64   // sum of exp(H0 - H) over exp(shift)
	Accept        float64   // sum over leaves of min(1, exp(H0 - H))
	Symmetric     float64   // sum over leaves of 2 min(1, e^D)/(1 + e^D), D = H0 - H
	Energy        float64   // of the draw
	EnergyError   float64   // of the draw, H - H0
	MaxError      float64   // largest |H - H0| of a leaf
	Message       string    // why it diverged
	StartedAt     []float64 // where the trajectory that diverged began
	DivergedAt    []float64 // and ended
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

// Usable reports whether the draw tells something about the posterior: it moved,
// and not just a few steps out of a divergent trajectory.
func (o *Transition) Usable() bool {
	if o.Divergent {
		return o.Index > 4 || o.Index < -4
	}
	return o.Index != 0
}
