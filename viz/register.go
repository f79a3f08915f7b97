// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
)

// Kind is a kind of picture of draws, with a name by which the command line knows it: euryale plot NAME RUN.
type Kind struct {
	Name  string
	About string // one line
	// Draw makes the picture of all quantities, or of those named.
	Draw func(d Draws, names ...string) (*Figure, error)
}

var kinds = []Kind{
	{"trace", "draws in sequence, one line per chain", Trace},
	{"rank", "ranks of each chain's draws among all draws", Rank},
	{"pair", "scatter plots of every pair of quantities", Pair},
	{"density", "marginal densities, one curve per chain", Density},
	{"forest", "credible intervals of all quantities", Forest},
	{"autocorrelation", "autocorrelation of each chain against the lag", Autocorrelation},
	{"ess", "effective sample size against the number of draws", ESSEvolution},
	{"energy", "distributions of the energy and of its changes", func(d Draws, _ ...string) (*Figure, error) { return Energy(d) }},
}

// Kinds returns the kinds of pictures of draws.
func Kinds() []Kind { return slices.Clone(kinds) }

// Register adds a kind of picture of one's own to Kinds. It is meant for init functions, and panics if the
// definition is not whole or the name is taken.
func Register(k Kind) {
	if k.Name == "" || k.About == "" || k.Draw == nil {
		panic(fmt.Sprintf("viz: the kind of picture %q is not whole: want Name, About and Draw", k.Name))
	}
	if slices.ContainsFunc(kinds, func(o Kind) bool { return o.Name == k.Name }) {
		panic(fmt.Sprintf("viz: there is a kind of picture %q already: give yours a name of its own", k.Name))
	}
	kinds = append(kinds, k)
}

// FromPlots returns a picture of plots of gonum.org/v1/plot, one below another, for pictures of one's own.
func FromPlots(title, note string, plots ...*plot.Plot) *Figure {
	return &Figure{Title: title, Note: note, Width: pageWidth, Height: 0.75 + 2.6*float64(max(len(plots), 1)), plots: plots}
}
