// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// prefactor returns the prefactor of a power law, whose exponent lies between two numbers. Its bounds are wider by a factor of 1000 on the side of the
// data if a line through them in logarithmic axes, of any such exponent, has its prefactor beyond the bounds, as where relaxation times or q are in other
// units. A prior whose 95 % do not reach the prefactor of the line with the exponent of the data, within these numbers, has the same width about it.
func prefactor(p Param, least, most float64) Param {
	p.RangeText = fmt.Sprintf("%.3g to %.3g, wider for data in other units", p.Lower, p.Upper)
	if p.PriorRange != nil {
		p.PriorText = p.PriorRange(p.Lower, p.Upper).String() + ", in " + p.Unit // that within these bounds
	}
	p.Range = func(c Curve) (start, lower, upper float64) {
		start, lower, upper = p.Start, p.Lower, p.Upper
		if len(c.Y) != len(c.X) { // which is an error
			return start, lower, upper
		}
		if a := math.Exp(min(c.prefactor(least), c.prefactor(most))); a < lower {
			lower = a / 1e3
		}
		if a := math.Exp(max(c.prefactor(least), c.prefactor(most))); a > upper {
			upper = a * 1e3
		}
		return start, lower, upper
	}
	if p.PriorRange != nil {
		return p
	}
	usual := p.Prior
	p.PriorText = usual.String() + ", in " + p.Unit + ",\nor about a line through the data that it does not reach"
	p.priorOf = func(c Curve) dist.Dist {
		_, b := c.logLine()
		if a := c.prefactor(min(max(b, least), most)); math.Abs(a-priorCenter) > 2*priorWidth {
			return dist.LogNormal(a, priorWidth)
		}
		return usual
	}
	return p
}

// priorCenter and priorWidth are those of the logarithm of the prefactor in its default prior.
const (
	priorCenter = 0
	priorWidth  = 2
)

// prefactor returns the logarithm of the prefactor of a line through logarithms with an exponent; 0 without points.
func (c Curve) prefactor(exponent float64) float64 {
	sum, n := 0.0, 0.0
	for i, x := range c.X {
		if c.Y[i] > 0 {
			sum, n = sum+math.Log(c.Y[i])-exponent*math.Log(x), n+1
		}
	}
	return sum / max(n, 1)
}

func init() {
	Register(Model{
		Name: "power", Of: "q",
		Formula: "tau0 q^-alpha",
		Params: []Param{
			// A lower bound of 1e-6 would shut out diffusion in SI units.
			prefactor(Param{Name: "tau0", Unit: "s A^-alpha", Start: 1, Lower: 1e-30, Upper: 1e6, Prior: dist.LogNormal(priorCenter, priorWidth)}, -10, 0),
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
			prefactor(Param{Name: "a", Unit: "s A^b", Start: 1e-7, Lower: 1e-12, Upper: 1e-3, PriorRange: logUniformLike}, -2.5, -0.5),
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
