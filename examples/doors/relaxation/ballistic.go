// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package ballistic adds a relaxation model to fits of g2: particles that move in straight lines relax as the square of
// the delay. Its command, in cmd, is euryale with this model:
//
//	ballistic fit g2 A003_results.hdf --model ballistic
package ballistic

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/g2"
)

// Model is the relaxation of particles in straight motion.
var Model = g2.Model{
	Name: "ballistic", Of: "delay",
	Formula: "baseline + contrast exp(-2 (x/tau)^2)",
	Params: []g2.Param{
		{Name: "tau", Unit: "s", Start: 1e-2, Lower: 1e-6, Upper: 1e4, Prior: dist.LogNormal(-5, 3)},
		{Name: "baseline", Start: 1, Lower: 0.5, Upper: 1.5, Prior: dist.Normal(1, 0.1)},
		{Name: "contrast", Start: 0.2, Lower: 0, Upper: 1, Prior: dist.HalfNormal(0.5)},
	},
	Mean: func(p []*ad.Node, x *ad.Node) *ad.Node {
		return ad.Add(p[1], ad.Mul(p[2], ad.Exp(ad.Scale(-2, ad.Square(ad.Div(x, p[0]))))))
	},
	Starts: func(c g2.Curve) [][]float64 {
		g := c.Guess()
		return [][]float64{{g.Tau, g.Baseline, g.Contrast}}
	},
}

func init() { g2.Register(Model) }
