// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package porod adds a nuisance to inversions of scattering patterns: a rough window in the beam, whose surface scatters as
// the fourth power of 1/q. Its strength is then a parameter of every model. The command of this package, in cmd, is euryale
// with it:
//
//	porod invert rsoxs problem.json    # with "parameters": {"porod": {"start": 1e-6}, ...}
package porod

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/morph"
)

// lowest is the q in 1/nm below which the window's scattering no longer rises: it hides behind the beam stop.
const lowest = 0.02

// Window adds porod q^-4 to the intensities.
var Window = morph.Nuisance{
	About: "scattering of a rough window in the beam, porod q^-4",
	Params: []morph.Parameter{
		{Name: "porod", About: "intensity of the window at q = 1/nm; default 0", Default: new(float64), Limits: &[2]float64{0, math.Inf(1)}},
	},
	Apply: func(at morph.Values, intensity, q *ad.Node) *ad.Node {
		squared := ad.Square(ad.Maximum(q, ad.Scalar(lowest)))
		return ad.Add(intensity, ad.Div(at("porod"), ad.Square(squared)))
	},
}

func init() { morph.RegisterNuisance("window", Window) }
