// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"slices"

	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// Parameter holds the customary values for a parameter of the motion. Units are those of
// transport.Setup.Names.
type Parameter struct {
	Name         string
	Aliases      []string // names that other programs give the parameter
	Start        float64
	Lower, Upper float64
	Prior        Normal
}

// diffusion are the parameters of the models of one component.
var diffusion = []Parameter{
	{"D0", nil, 1000, 100, 1e5, Normal{1000, 1000}},
	{"alpha", nil, 0.5, -2, 2, Normal{0.5, 0.5}},
	{"D_offset", nil, 10, -1e5, 1e5, Normal{10, 200}},
}

// table are the parameters of each model in the order of transport.Setup.Names.
var table = map[transport.Model][]Parameter{
	transport.Static: diffusion,
	transport.Laminar: append(slices.Clone(diffusion),
		Parameter{"gamma_dot_t0", []string{"gamma_dot_0"}, 0.01, 1e-6, 0.5, Normal{0.01, 0.1}},
		Parameter{"beta", nil, 0.5, -2, 2, Normal{0, 0.5}},
		Parameter{"gamma_dot_t_offset", []string{"gamma_dot_offset"}, 0, -0.1, 0.1, Normal{0, 0.02}},
		Parameter{"phi0", []string{"phi_0"}, 0, -10, 10, Normal{0, 5}}),
	transport.TwoComponent: {
		{"D0_ref", nil, 1e4, 0, 1e6, Normal{1e4, 5e3}},
		{"alpha_ref", nil, 0, -2, 2, Normal{0, 1}},
		{"D_offset_ref", nil, 0, -1e4, 1e4, Normal{0, 1e3}},
		{"D0_sample", nil, 1e4, 0, 1e6, Normal{1e4, 5e3}},
		{"alpha_sample", nil, 0, -2, 2, Normal{0, 1}},
		{"D_offset_sample", nil, 0, -1e4, 1e4, Normal{0, 1e3}},
		{"v0", nil, 1e3, 0, 1e6, Normal{1e3, 500}},
		{"v_beta", []string{"beta"}, 1, 0, 2, Normal{0, 1}},
		{"v_offset", nil, 0, -100, 100, Normal{0, 25}},
		{"f0", nil, 0.5, 0, 1, Normal{0.5, 0.25}},
		{"f1", nil, 0, -1, 1, Normal{0, 5}},
		{"f2", nil, 0, -1, 1, Normal{0, 1e3}},
		{"f3", nil, 0, -1, 1, Normal{0, 0.5}},
		{"phi0_het", []string{"phi0", "phi_0"}, 0, -10, 10, Normal{0, 5}},
	},
}

// Parameters returns the parameters of a model with the defaults of homodyne and xpcsjax, in the
// order of transport.Setup.Names. Bounds of +-10 degrees of phi0, and of 0 of v_beta, exclude
// ordinary data.
func Parameters(m transport.Model) []Parameter { return slices.Clone(table[m]) }

// DefaultStart returns the customary start of the parameters of a model.
func DefaultStart(m transport.Model) (start []float64) {
	for _, p := range table[m] {
		start = append(start, p.Start)
	}
	return start
}

// DefaultBounds returns the customary bounds of the parameters of a model.
func DefaultBounds(m transport.Model) (bounds [][2]float64) {
	for _, p := range table[m] {
		bounds = append(bounds, [2]float64{p.Lower, p.Upper})
	}
	return bounds
}
