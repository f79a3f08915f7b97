// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"slices"
	"strings"
)

// Model is a model of motion, under its name in configurations.
type Model string

// The models. With StaticIsotropic the angles are averaged; with StaticAnisotropic each has its own
// contrast and offset.
const (
	StaticIsotropic   Model = "static_isotropic"
	StaticAnisotropic Model = "static_anisotropic"
	LaminarFlow       Model = "laminar_flow"
	TwoComponent      Model = "two_component"
)

// PriorKind is a family of prior distributions.
type PriorKind string

// The families. Mean and SD of LogNormal are those of the natural logarithm; HalfNormal uses only SD,
// and Uniform and LogUniform only the limits.
const (
	Normal          PriorKind = "Normal"
	TruncatedNormal PriorKind = "TruncatedNormal"
	LogNormal       PriorKind = "LogNormal"
	HalfNormal      PriorKind = "HalfNormal"
	Uniform         PriorKind = "Uniform"
	LogUniform      PriorKind = "LogUniform"
)

// Prior is the prior distribution of a parameter.
type Prior struct {
	Kind      PriorKind
	Mean, SD  float64
	Low, High float64
	// Given reports whether the configuration gives the prior. Otherwise it is the usual one of
	// homodyne.
	Given bool
}

// Parameter is a parameter of a model with everything that a configuration says about it, and the
// customary values for what it leaves out. Lengths are in angstroms, times in s, angles in degrees.
type Parameter struct {
	Name  string
	Start float64
	// Started reports whether the configuration gives Start.
	Started   bool
	Low, High float64
	// Bounded reports whether the configuration gives the bounds.
	Bounded bool
	// Fixed keeps the parameter at Start.
	Fixed bool
	Prior Prior
}

// customary are the registered parameters of homodyne and xpcsjax: start, bounds, mean and standard deviation.
var customary = map[string][5]float64{
	"D0": {1000, 100, 1e5, 1000, 1000}, "alpha": {0.5, -2, 2, 0.5, 0.5}, "D_offset": {10, -1e5, 1e5, 10, 200},
	"gamma_dot_t0": {0.01, 1e-6, 0.5, 0.01, 0.1}, "beta": {0.5, -2, 2, 0, 0.5}, "gamma_dot_t_offset": {0, -0.1, 0.1, 0, 0.02}, "phi0": {0, -10, 10, 0, 5},
	"contrast": {0.5, 0, 1, 0.5, 0.25}, "offset": {1, 0.5, 1.5, 1, 0.25},
	"D0_ref": {1e4, 0, 1e6, 1e4, 5e3}, "alpha_ref": {0, -2, 2, 0, 1}, "D_offset_ref": {0, -1e4, 1e4, 0, 1e3},
	"D0_sample": {1e4, 0, 1e6, 1e4, 5e3}, "alpha_sample": {0, -2, 2, 0, 1}, "D_offset_sample": {0, -1e4, 1e4, 0, 1e3},
	"v0": {1e3, 0, 1e6, 1e3, 500}, "v_beta": {1, 0, 2, 0, 1}, "v_offset": {0, -100, 100, 0, 25},
	"f0": {0.5, 0, 1, 0.5, 0.25}, "f1": {0, -1, 1, 0, 5}, "f2": {0, -1, 1, 0, 1e3}, "f3": {0, -1, 1, 0, 0.5}, "phi0_het": {0, -10, 10, 0, 5},
}

var (
	staticNames  = []string{"D0", "alpha", "D_offset"}
	laminarNames = append(slices.Clone(staticNames), "gamma_dot_t0", "beta", "gamma_dot_t_offset", "phi0")
	twoNames     = []string{"D0_ref", "alpha_ref", "D_offset_ref", "D0_sample", "alpha_sample", "D_offset_sample", "v0", "v_beta", "v_offset",
		"f0", "f1", "f2", "f3", "phi0_het"}
)

// Names returns the parameters of the model, in their order.
func (m Model) Names() []string {
	switch m {
	case StaticIsotropic, StaticAnisotropic:
		return slices.Clone(staticNames)
	case LaminarFlow:
		return slices.Clone(laminarNames)
	case TwoComponent:
		return slices.Clone(twoNames)
	}
	return nil
}

// parameter returns a parameter with its customary values.
func parameter(name string) Parameter {
	c := customary[name]
	return Parameter{Name: name, Start: c[0], Low: c[1], High: c[2], Prior: Prior{Kind: TruncatedNormal, Mean: c[3], SD: c[4], Low: c[1], High: c[2]}}
}

// Name returns the name of a parameter of the model, given any of the names that programs use for it:
// gamma_dot_0 for gamma_dot_t0, and heterodyne's beta and phi0 for v_beta and phi0_het.
func (m Model) Name(name string) string {
	switch name {
	case "gamma_dot_0", "gamma_dot0":
		name = "gamma_dot_t0"
	case "gamma_dot_offset":
		name = "gamma_dot_t_offset"
	case "phi_0":
		name = "phi0"
	}
	if m == TwoComponent {
		switch name {
		case "beta":
			return "v_beta"
		case "phi0":
			return "phi0_het"
		}
	}
	return name
}

// modelOf returns the model that a configuration names, and what to say about it.
func modelOf(text string) (m Model, notice string, ok bool) {
	switch strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(text)) {
	case "static":
		return StaticAnisotropic, `analysis_mode "static" is taken as static_anisotropic: each angle has its own contrast and offset; static_isotropic averages the angles`, true
	case "static_isotropic", "isotropic":
		return StaticIsotropic, "", true
	case "static_anisotropic", "anisotropic":
		return StaticAnisotropic, "", true
	case "laminar_flow", "laminar":
		return LaminarFlow, "", true
	case "two_component", "heterodyne":
		return TwoComponent, "", true
	}
	return "", "", false
}

// priorKind returns the family that a configuration names.
func priorKind(text string) (PriorKind, bool) {
	k, ok := map[string]PriorKind{"normal": Normal, "gaussian": Normal, "truncatednormal": TruncatedNormal, "lognormal": LogNormal, "halfnormal": HalfNormal,
		"uniform": Uniform, "loguniform": LogUniform}[strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(text))]
	return k, ok
}
