package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Laplace is the two-sided exponential distribution with location mu and scale b.
//
//	log p = -|x-mu|/b - log(2b)
func Laplace(mu, b any) Dist {
	p := nodes(mu, b)
	left := func(z *ad.Node) *ad.Node {
		return sided(z, func(size *ad.Node) *ad.Node { return ad.Shift(ad.Neg(size), -math.Ln2) })
	}
	return Dist{Name: "laplace", Params: p, Support: Real,
		logProb: func(x *ad.Node) *ad.Node {
			return ad.Neg(ad.Add(ad.Abs(standard(x, p[0], p[1])), ad.Log(ad.Scale(2, p[1]))))
		},
		logCDF:  func(x *ad.Node) *ad.Node { return left(standard(x, p[0], p[1])) },
		logCCDF: func(x *ad.Node) *ad.Node { return left(standard(p[0], x, p[1])) },
		rand:    func(src Source, p []float64) float64 { return laplaceQuantile(open(src), p) },
		cdf: func(x float64, p []float64) float64 {
			if z := (x - p[0]) / p[1]; z > 0 {
				return 0.5 - math.Expm1(-z)/2
			} else {
				return math.Exp(z) / 2
			}
		},
		quantile: laplaceQuantile,
		mean:     func(p []float64) float64 { return p[0] },
		variance: func(p []float64) float64 { return 2 * p[1] * p[1] },
	}
}

func laplaceQuantile(u float64, p []float64) float64 {
	if u < 0.5 {
		return p[0] + p[1]*math.Log(2*u)
	}
	return p[0] - p[1]*math.Log(2*(1-u))
}

func init() {
	register(Family{Name: "laplace", Params: []string{"mu", "b"}, Want: []Support{Real, Positive},
		Make: func(p ...any) Dist { return Laplace(p[0], p[1]) },
		At:   [][]float64{{0, 1}, {1, 0.4}}})
}
