// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

var (
	tauParam      = relaxationTime("tau", 1)
	baselineParam = Param{Name: "baseline", Start: 1, Lower: 0, Upper: 2, Prior: dist.Normal(1, 0.1)}
	contrastParam = Param{Name: "contrast", Start: 0.3, Lower: 0, Upper: 1, ends: []float64{0, 1}, Prior: dist.HalfNormal(1)}
)

// relaxationTime returns a parameter between 1e-6 and 1e6 s. The bounds are wider if a thousandth of
// the shortest delay, or a thousand times the longest, lies beyond them.
func relaxationTime(name string, start float64) Param {
	p := Param{Name: name, Unit: "s", Start: start, Lower: 1e-6, Upper: 1e6, Prior: dist.LogNormal(0, 2), positive: true}
	p.RangeText = "1e-06 to 1e+06, wider for delays below 1e-3 or above 1e3"
	p.Range = func(c Curve) (s, lower, upper float64) {
		lower, upper = min(p.Lower, slices.Min(c.X)/1e3), max(p.Upper, slices.Max(c.X)*1e3)
		return start, lower, upper
	}
	return p
}

func init() {
	Register(Model{
		Name: "single", Of: "delay",
		Formula: "baseline + contrast exp(-2 x/tau)",
		Params:  []Param{tauParam, baselineParam, contrastParam},
		Mean: func(p []*ad.Node, x *ad.Node) *ad.Node {
			return ad.Add(p[1], ad.Mul(p[2], decay(x, p[0])))
		},
		Starts: func(c Curve) [][]float64 {
			g := c.Guess()
			return [][]float64{{g.Tau, g.Baseline, g.Contrast}}
		},
	})
}
