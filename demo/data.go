// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"embed"
	"slices"
)

//go:embed g2_result.hdf
var correlations []byte

// Correlations returns a result file of photon correlation spectroscopy in the APS 8-ID
// layout, made by examples/g2.
func Correlations() []byte { return slices.Clone(correlations) }

//go:embed assembly/*.yaml
var scripts embed.FS

// Experiment is a script of an experiment with assemblies of neurons.
type Experiment struct {
	Name    string
	About   string // description of what the experiment shows
	Picture string // kind of picture that shows it
}

// Experiments returns three small experiments in the assembly calculus.
func Experiments() []Experiment {
	return []Experiment{
		{"project", "a stimulus forms an assembly: neurons that ever fired, at four plasticities", "support"},
		{"associate", "two assemblies fire together: how they overlap in a third area", "overlap"},
		{"complete", "part of an assembly is fired: how much comes back, as training goes on", "overlap"},
	}
}

// Script returns the experiment in the language of package sim/assembly/script. It panics
// if x is not one of Experiments.
func (x Experiment) Script() []byte {
	b, err := scripts.ReadFile("assembly/" + x.Name + ".yaml")
	if err != nil {
		panic("demo: there is no experiment " + x.Name)
	}
	return b
}
