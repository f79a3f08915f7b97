package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Exponential is the law of rate b (mean 1/b).
//
//	log p = log b - b x, x >= 0
func Exponential(b any) Dist {
	p := nodes(b)
	return Dist{Name: "exponential", Params: p, Support: NonNegative,
		logProb: func(x *ad.Node) *ad.Node {
			return ad.Sub(ad.Log(p[0]), ad.Mul(p[0], x))
		},
		rand:     func(src Source, p []float64) float64 { return -math.Log(open(src)) / p[0] },
		cdf:      func(x float64, p []float64) float64 { return -math.Expm1(-p[0] * x) },
		quantile: func(u float64, p []float64) float64 { return -math.Log1p(-u) / p[0] },
	}
}

func init() {
	laws = append(laws, Law{Name: "exponential", Params: []string{"rate"}, Want: []Support{Positive},
		Make: func(p ...any) Dist { return Exponential(p[0]) },
		At:   [][]float64{{1}, {3}}})
}
