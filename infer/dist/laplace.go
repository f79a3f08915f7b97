package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Laplace is the two-sided exponential law of location mu and scale b.
//
//	log p = -|x-mu|/b - log(2b)
func Laplace(mu, b any) Dist {
	p := nodes(mu, b)
	return Dist{Name: "laplace", Params: p, Support: Real,
		logProb: func(x *ad.Node) *ad.Node {
			return ad.Neg(ad.Add(ad.Abs(standard(x, p[0], p[1])), ad.Log(ad.Scale(2, p[1]))))
		},
		rand:     func(src Source, p []float64) float64 { return laplaceQuantile(open(src), p) },
		cdf:      func(x float64, p []float64) float64 { return laplaceCDF((x - p[0]) / p[1]) },
		quantile: func(u float64, p []float64) float64 { return laplaceQuantile(u, p) },
	}
}

func laplaceCDF(z float64) float64 {
	if z < 0 {
		return math.Exp(z) / 2
	}
	return 1 - math.Exp(-z)/2
}

func laplaceQuantile(u float64, p []float64) float64 {
	if u < 0.5 {
		return p[0] + p[1]*math.Log(2*u)
	}
	return p[0] - p[1]*math.Log(2*(1-u))
}

func init() {
	laws = append(laws, Law{Name: "laplace", Params: []string{"mu", "b"}, Want: []Support{Real, Positive},
		Make: func(p ...any) Dist { return Laplace(p[0], p[1]) },
		At:   [][]float64{{0, 1}, {1, 0.4}}})
}
