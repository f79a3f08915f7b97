// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import "math"

// Points are measurements as a picture shows them, with the name of the observation of the model that predicts them.
type Points struct {
	Observation string
	XLabel      string
	YLabel      string
	X, Y        []float64
}

// Points returns the measurements as points of a curve.
func (p *Measured) Points() Points {
	switch p.Fit {
	case "p":
		return Points{"degree", "neuron", "synapses", counted(len(p.Count), 1), floats(p.Count)}
	case "beta":
		y := make([]float64, len(p.Weight))
		for i, w := range p.Weight {
			y[i] = math.Log(w / float64(p.Count[i]))
		}
		return Points{"log_weight", "times strengthened", "ln(weight for each synapse)", floats(p.Times), y}
	case "completion":
		return Points{"recovered", "fraction of the assembly that fired", "neurons of it that fired in the end", p.Alpha, floats(p.Recovered)}
	case "association":
		return Points{"overlap", "rounds", "overlap (neurons)", p.Rounds, floats(p.Overlap)}
	}
	return Points{"overlap", "step", "overlap with the step before (neurons)", counted(len(p.Overlap), 2), floats(p.Overlap)}
}

// counted returns n whole numbers from first on.
func counted(n, first int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(first + i)
	}
	return out
}
