// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/sim/assembly/script"
	"github.com/euryale-dev/euryale/viz"
)

// Picture is a kind of picture of a file or a run, with the name by which the command line knows it: euryale plot KIND SOURCE.
type Picture struct {
	Kind, Short string
	Long        string // first paragraph of the help
	// Flag is the name of a flag of its own, about what it does; "" if it has none.
	Flag, About string
	Bins        bool // true if it draws bins that can be chosen
}

// ResultPicture is a kind of picture of result files of photon correlation.
type ResultPicture struct {
	Picture
	Draw func(r *nexus.Result, c Choice) (*viz.Figure, error)
	// Together draws several files in one picture; nil where that is not possible.
	Together func(all []*nexus.Result, c Choice) (*viz.Figure, error)
}

// QMapPicture is a kind of picture of q maps, which result files hold too.
type QMapPicture struct {
	Picture
	Draw func(q *nexus.QMap) (*viz.Figure, error)
}

// AssemblyPicture is a kind of picture of runs of assembly scripts.
type AssemblyPicture struct {
	Picture
	Draw func(s *script.Script, r *script.Result, c Choice) (*viz.Figure, error)
}

// Choice is what a picture is to show.
type Choice struct {
	Bins  []int    // bins of a result file, from 1
	Names []string // names of areas or measures; none for all
	Flag  bool     // true if the flag of the picture is given
}

// pictures are the kinds of pictures of each source. The files that draw them register them.
var pictures struct {
	results    []ResultPicture
	maps       []QMapPicture
	assemblies []AssemblyPicture
}

// Results returns the kinds of pictures of result files of photon correlation.
func Results() []ResultPicture { return slices.Clone(pictures.results) }

// QMaps returns the kinds of pictures of q maps and masks.
func QMaps() []QMapPicture { return slices.Clone(pictures.maps) }

// Assemblies returns the kinds of pictures of runs of assembly scripts.
func Assemblies() []AssemblyPicture { return slices.Clone(pictures.assemblies) }
