package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// HalfCauchy is the law of |x| for a Cauchy x of location 0 and scale s.
//
//	log p = log(2/pi) - log s - log(1 + (x/s)^2), x >= 0
//
// computed as Cauchy is.
func HalfCauchy(s any) Dist {
	p := nodes(s)
	return Dist{Name: "halfcauchy", Params: p, Support: NonNegative,
		logProb: func(x *ad.Node) *ad.Node {
			return ad.Shift(ad.Sub(ad.Log(p[0]), ad.Scale(2, ad.Log(ad.Hypot(p[0], x)))), math.Log(2/math.Pi))
		},
		rand:     func(src Source, p []float64) float64 { return p[0] * math.Tan(math.Pi/2*open(src)) },
		cdf:      func(x float64, p []float64) float64 { return 2 / math.Pi * math.Atan(x/p[0]) },
		quantile: func(u float64, p []float64) float64 { return p[0] * math.Tan(math.Pi/2*u) },
	}
}

func init() {
	laws = append(laws, Law{Name: "halfcauchy", Params: []string{"scale"}, Want: []Support{Positive},
		Make: func(p ...any) Dist { return HalfCauchy(p[0]) },
		At:   [][]float64{{1}, {5}}})
}
