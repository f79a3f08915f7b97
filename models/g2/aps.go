// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

func uniform(lower, upper float64) dist.Dist { return dist.Uniform(lower, upper) }

// logUniformLike returns a wide model of a positive scale between two bounds: lognormal about their
// geometric mean, with the bounds at two standard deviations.
func logUniformLike(lower, upper float64) dist.Dist {
	return dist.LogNormal(math.Log(geometric(lower, upper)), math.Log(upper/lower)/4)
}

// boxed returns a parameter between two bounds that starts halfway between them.
func boxed(name string, lower, upper float64) Param {
	return Param{Name: name, Start: (lower + upper) / 2, Lower: lower, Upper: upper, PriorRange: uniform}
}

// fraction returns a parameter between 0 and 1.
func fraction(name string) Param {
	p := boxed(name, 0, 1)
	p.ends = []float64{0, 1}
	return p
}

// relaxation returns a relaxation time between a twentieth of the shortest delay and ten times the
// longest, which starts at their geometric mean.
func relaxation(name string) Param {
	return Param{Name: name, Unit: "s", PriorRange: logUniformLike, positive: true,
		RangeText: "1/20 of the shortest to 10 times the longest delay",
		PriorText: "lognormal, 95 % within these bounds:\n1/20 of the shortest to 10 times the longest delay",
		Range: func(c Curve) (start, lower, upper float64) {
			lower, upper = slices.Min(c.X)/20, slices.Max(c.X)*10
			return geometric(lower, upper), lower, upper
		}}
}

func init() {
	Register(Model{
		Name: "aps_single", Of: "delay",
		Formula: "a exp(-2 (x/b)^c) + d",
		Params:  []Param{boxed("a", 0.04, 0.8), relaxation("b"), boxed("c", 0.5, 2), boxed("d", 0.95, 1.05)},
		Mean: func(p []*ad.Node, x *ad.Node) *ad.Node {
			return ad.Add(ad.Mul(p[0], ad.Exp(ad.Scale(-2, power(ad.Div(x, p[1]), p[2])))), p[3])
		},
		Starts: func(c Curve) [][]float64 {
			g := c.Guess()
			return [][]float64{{g.Contrast, g.Tau, 1, g.Baseline}}
		},
		scaledErrors: true,
	})
	Register(Model{
		Name: "aps_double", Of: "delay",
		Formula: "a (f exp(-(x/b1)^c1) + (1-f) exp(-(x/b2)^c2))^2 + d",
		Params: []Param{boxed("a", 0.04, 0.8), relaxation("b1"), boxed("c1", 0.5, 2), boxed("d", 0.95, 1.05),
			relaxation("b2"), boxed("c2", 0.5, 2), fraction("f")},
		Mean: func(p []*ad.Node, x *ad.Node) *ad.Node {
			one := func(b, c *ad.Node) *ad.Node { return ad.Exp(ad.Neg(power(ad.Div(x, b), c))) }
			f := p[6]
			s := ad.Add(ad.Mul(f, one(p[1], p[2])), ad.Mul(ad.Sub(ad.Scalar(1), f), one(p[4], p[5])))
			return ad.Add(ad.Mul(p[0], ad.Square(s)), p[3])
		},
		// The middle of the bounds has equal components: a saddle point. Starts are
		// split instead.
		Starts: func(c Curve) [][]float64 {
			g := c.Guess()
			var out [][]float64
			for _, split := range []float64{3, 10} {
				for _, f := range []float64{0.5, 0.3, 0.7} {
					out = append(out, []float64{g.Contrast, g.Tau / split, 1, g.Baseline, g.Tau * split, 1, f})
				}
			}
			return out
		},
		Pairs: [][2]int{{1, 4}, {2, 5}}, Complement: "f", scaledErrors: true,
	})
}
