package demo

import (
	"embed"
	"slices"
)

//go:embed g2_result.hdf
var correlations []byte

// Correlations returns a result file of photon correlation in the APS 8-ID layout, which
// examples/g2 has made.
func Correlations() []byte { return slices.Clone(correlations) }

//go:embed assembly/*.yaml
var scripts embed.FS

// Experiment is an experiment with assemblies of neurons, as a script.
type Experiment struct {
	Name    string
	About   string // what it shows
	Picture string // the kind of picture that shows it
}

// Experiments returns three experiments of the assembly calculus in small.
func Experiments() []Experiment {
	return []Experiment{
		{"project", "a stimulus forms an assembly: neurons that ever fired, at four plasticities", "support"},
		{"associate", "two assemblies fire together: how they overlap in a third area", "overlap"},
		{"complete", "part of an assembly is fired: how much comes back, as training goes on", "overlap"},
	}
}

// Script returns the experiment in the language of package sim/assembly/script. It panics
// on an Experiment that is none of Experiments.
func (x Experiment) Script() []byte {
	b, err := scripts.ReadFile("assembly/" + x.Name + ".yaml")
	if err != nil {
		panic("demo: there is no experiment " + x.Name)
	}
	return b
}
