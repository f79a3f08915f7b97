// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// prefactor returns the prefactor of a power law. Its bounds are wider by a factor of 1000 on the side of the data if a line through them in logarithmic
// axes has its prefactor beyond the bounds, as where relaxation times or q are in other units.
func prefactor(p Param) Param {
	p.RangeText = fmt.Sprintf("%.3g to %.3g, wider for data in other units", p.Lower, p.Upper)
	if p.PriorRange != nil {
		p.PriorText = p.PriorRange(p.Lower, p.Upper).String() + ", in " + p.Unit // that within these bounds
	}
	p.Range = func(c Curve) (start, lower, upper float64) {
		start, lower, upper = p.Start, p.Lower, p.Upper
		if len(c.Y) != len(c.X) { // which is an error
			return start, lower, upper
		}
		if a, _ := c.logLine(); math.Exp(a) < lower {
			lower = math.Exp(a) / 1e3
		} else if math.Exp(a) > upper {
			upper = math.Exp(a) * 1e3
		}
		return start, lower, upper
	}
	return p
}

func init() {
	Register(Model{
		Name: "power", Of: "q",
		Formula: "tau0 q^-alpha",
		Params: []Param{
			// A lower bound of 1e-6 would shut out diffusion in SI units.
			prefactor(Param{Name: "tau0", Unit: "s A^-alpha", Start: 1, Lower: 1e-30, Upper: 1e6, Prior: dist.LogNormal(0, 2)}),
			{Name: "alpha", Start: 2, Lower: 0, Upper: 10, Prior: dist.Normal(2, 1)},
		},
		Mean: func(p []*ad.Node, q *ad.Node) *ad.Node {
			return ad.Mul(p[0], ad.Exp(ad.Neg(ad.Mul(p[1], ad.Log(q)))))
		},
		Starts: func(c Curve) [][]float64 {
			a, b := c.logLine()
			return [][]float64{{math.Exp(a), -b}}
		},
	})
	Register(Model{
		Name: "aps_power", Of: "q",
		Formula: "a q^b",
		Params: []Param{
			prefactor(Param{Name: "a", Unit: "s A^b", Start: 1e-7, Lower: 1e-12, Upper: 1e-3, PriorRange: logUniformLike}),
			{Name: "b", Start: -2, Lower: -2.5, Upper: -0.5, PriorRange: uniform},
		},
		Mean: func(p []*ad.Node, q *ad.Node) *ad.Node {
			return ad.Mul(p[0], ad.Exp(ad.Mul(p[1], ad.Log(q))))
		},
		Starts: func(c Curve) [][]float64 {
			a, b := c.logLine()
			return [][]float64{{math.Exp(a), b}}
		},
		scaledErrors: true,
	})
}
