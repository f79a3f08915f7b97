// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

func init() {
	contrast := func(name string) Param {
		return Param{Name: name, Start: 0.15, Lower: 0, Upper: 1, ends: []float64{0, 1}, Prior: dist.HalfNormal(0.5)}
	}
	mean := func(p []*ad.Node, x *ad.Node) *ad.Node {
		return ad.AddN(p[2], ad.Mul(p[3], decay(x, p[0])), ad.Mul(p[4], decay(x, p[1])))
	}
	Register(Model{
		Name: "double", Of: "delay",
		Formula: "baseline + contrast1 exp(-2 x/tau1) + contrast2 exp(-2 x/tau2)",
		Params:  []Param{relaxationTime("tau1", 0.1), relaxationTime("tau2", 10), baselineParam, contrast("contrast1"), contrast("contrast2")},
		Mean:    mean,
		Starts: func(c Curve) [][]float64 {
			g := c.Guess()
			var out [][]float64
			for _, split := range []float64{3, 10} {
				out = append(out, []float64{g.Tau / split, g.Tau * split, g.Baseline, g.Contrast / 2, g.Contrast / 2})
			}
			return out
		},
		Pairs: [][2]int{{0, 1}, {3, 4}},
		// Sampled with tau2 = tau1 (1 + tau2_factor), which keeps the components in order.
		sampled: &reparametrised{
			params: []Param{relaxationTime("tau1", 0.1), {Name: "tau2_factor", Prior: dist.LogNormal(0, 1)}, baselineParam, contrast("contrast1"), contrast("contrast2")},
			mean: func(p []*ad.Node, x *ad.Node) *ad.Node {
				return mean([]*ad.Node{p[0], slower(p), p[2], p[3], p[4]}, x)
			},
			derived: func(p []*ad.Node) map[string]*ad.Node { return map[string]*ad.Node{"tau2": slower(p)} },
			from: func(f []float64) []float64 {
				return []float64{f[0], max(f[1]/f[0]-1, 1e-3), f[2], f[3], f[4]}
			},
		},
	})
}

func slower(p []*ad.Node) *ad.Node { return ad.Mul(p[0], ad.Shift(p[1], 1)) }
