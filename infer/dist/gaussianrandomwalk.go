// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// GaussianRandomWalk is the distribution of a series whose first number is Normal(mu0,
// sigma0) and whose steps are Normal(0, sigma). The series may have any length.
//
//	log p = log Normal(x_0 | mu0, sigma0) + sum log Normal(x_t - x_(t-1) | 0, sigma)
func GaussianRandomWalk(mu0, sigma0, sigma any) Dist {
	p := Nodes(mu0, sigma0, sigma)
	return Dist{Name: "gaussianrandomwalk", Params: p, Event: 1, everywhere: true,
		LogProbOf: func(x *ad.Node) *ad.Node {
			first := normalLog(standard(ad.Index(x, -1, 0), p[0], p[1]), p[1])
			return ad.Add(first, stepsLog(x, one, p[2]))
		},
		DrawOf: func(src Source, dst, p []float64) error {
			drawSeries(src, dst, p[0], p[1], 1, p[2])
			return nil
		},
	}
}

// AR1 is the stationary distribution of a series with x_t = phi x_(t-1) + Normal(0,
// sigma), |phi| < 1. The series may have any length.
//
//	log p = log Normal(x_0 | 0, sigma/sqrt(1-phi^2)) + sum log Normal(x_t | phi x_(t-1), sigma)
func AR1(phi, sigma any) Dist {
	p := Nodes(phi, sigma)
	return Dist{Name: "ar1", Params: p, Event: 1, everywhere: true,
		LogProbOf: func(x *ad.Node) *ad.Node {
			sd := ad.Div(p[1], ad.Sqrt(ad.Mul(ad.Sub(one, p[0]), ad.Add(one, p[0]))))
			return ad.Add(normalLog(ad.Div(ad.Index(x, -1, 0), sd), sd), stepsLog(x, p[0], p[1]))
		},
		DrawOf: func(src Source, dst, p []float64) error {
			drawSeries(src, dst, 0, p[1]/math.Sqrt((1-p[0])*(1+p[0])), p[0], p[1])
			return nil
		},
	}
}

// stepsLog returns the log density of x_1, x_2, ..., each given the number before it.
func stepsLog(x, phi, sigma *ad.Node) *ad.Node {
	n := last(x)
	before, after := ad.Slice(x, -1, 0, max(0, n-1)), ad.Slice(x, -1, min(1, n), n)
	step := ad.Sub(after, ad.Mul(column(phi), before))
	return each(normalLog(ad.Div(step, column(sigma)), column(sigma)))
}

func drawSeries(src Source, dst []float64, mu0, sigma0, phi, sigma float64) {
	for t := range dst {
		if t == 0 {
			dst[0] = mu0 + sigma0*src.Normal()
		} else {
			dst[t] = phi*dst[t-1] + sigma*src.Normal()
		}
	}
}

func init() {
	register(Family{Name: "gaussianrandomwalk", Params: []string{"mu0", "sigma0", "sigma"}, Want: []Support{Real, Positive, Positive},
		Make:   func(p ...any) Dist { return GaussianRandomWalk(p[0], p[1], p[2]) },
		At:     [][]float64{{0, 1, 0.3}},
		Shapes: [][]int{{}, {}, {}}, Value: []int{4}})
	register(Family{Name: "ar1", Params: []string{"phi", "sigma"}, Want: []Support{{Lower: ad.Scalar(-1), Upper: one, Open: true}, Positive},
		Make:   func(p ...any) Dist { return AR1(p[0], p[1]) },
		At:     [][]float64{{0.7, 0.5}},
		Shapes: [][]int{{}, {}}, Value: []int{4}})
}
