// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package ellipsoid adds a morphology to inversions of scattering patterns: a ball that is stretched along one axis. Its
// command, in cmd, is euryale with this model:
//
//	ellipsoid invert rsoxs problem.json    # with "model": "ellipsoid"
package ellipsoid

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// Definition is the model: a radius across, and a ratio of the length along z to it.
var Definition = morph.Definition{
	About: "a ball stretched along z; materials: ellipsoid, surroundings",
	Params: []morph.Parameter{
		{Name: "radius", About: "radius across z in nm", Needed: true, Limits: &[2]float64{0, math.Inf(1)}},
		{Name: "ratio", About: "length along z, divided by the radius", Needed: true, Limits: &[2]float64{0, math.Inf(1)}},
	},
	Build: func(p *morph.Problem, g morph.Grid, at morph.Values) morph.Scene {
		var middle morph.Vec
		for i := range middle {
			middle[i] = ad.Scalar(float64(g.Shape[2-i]-1) / 2 * g.Voxel)
		}
		v := g.From(middle)
		r := ad.Sqrt(ad.Shift(ad.AddN(ad.Square(v[0]), ad.Square(v[1]), ad.Square(ad.Div(v[2], at("ratio")))), 1e-9))
		inside := morph.Inside(ad.Sub(r, at("radius")), g.Voxel/4)
		full := func(x *ad.Node) *ad.Node { return ad.Broadcast(x, g.Shape[:]...) }
		return morph.Scene{Materials: []rsoxs.MaterialNodes{
			{Vfrac: full(inside)}, {Vfrac: full(ad.Sub(ad.Scalar(1), inside))}}}
	},
}

func init() { morph.Register("ellipsoid", Definition) }
