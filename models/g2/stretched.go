// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

func init() {
	// Exponents above 1 are those of compressed decays, as of ballistic motion; 2 is a Gaussian.
	beta := Param{Name: "beta", Start: 0.8, Lower: 0.01, Upper: 2, Prior: dist.TruncatedNormal(0.8, 0.5, 0, 2)}
	Register(Model{
		Name: "stretched", Of: "delay",
		Formula: "baseline + contrast exp(-(2 x/tau)^beta)",
		Params:  []Param{tauParam, baselineParam, contrastParam, beta},
		Mean: func(p []*ad.Node, x *ad.Node) *ad.Node {
			return ad.Add(p[1], ad.Mul(p[2], ad.Exp(ad.Neg(power(ad.Div(ad.Scale(2, x), p[0]), p[3])))))
		},
		Starts: func(c Curve) [][]float64 {
			g := c.Guess()
			return [][]float64{{g.Tau, g.Baseline, g.Contrast, 0.8}, {g.Tau, g.Baseline, g.Contrast, 0.5}, {g.Tau, g.Baseline, g.Contrast, 1.5}}
		},
	})
}

// power returns z^c of positive z as exp(c log z), whose derivatives are cheap.
func power(z, c *ad.Node) *ad.Node { return ad.Exp(ad.Mul(c, ad.Log(z))) }
