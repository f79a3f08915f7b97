package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Cauchy is the law of location mu and scale s, which has no mean.
//
//	log p = -log(1 + ((x-mu)/s)^2) - log s - log pi
//
// computed as log s - 2 log hypot(s, x-mu) - log pi, which no x overflows.
func Cauchy(mu, s any) Dist {
	p := nodes(mu, s)
	return Dist{Name: "cauchy", Params: p, Support: Real,
		logProb: func(x *ad.Node) *ad.Node {
			return ad.Shift(ad.Sub(ad.Log(p[1]), ad.Scale(2, ad.Log(ad.Hypot(p[1], ad.Sub(x, p[0]))))), -math.Log(math.Pi))
		},
		rand:     func(src Source, p []float64) float64 { return p[0] + p[1]*math.Tan(math.Pi*(open(src)-0.5)) },
		cdf:      func(x float64, p []float64) float64 { return 0.5 + math.Atan((x-p[0])/p[1])/math.Pi },
		quantile: func(u float64, p []float64) float64 { return p[0] + p[1]*math.Tan(math.Pi*(u-0.5)) },
	}
}

func init() {
	laws = append(laws, Law{Name: "cauchy", Params: []string{"loc", "scale"}, Want: []Support{Real, Positive},
		Make: func(p ...any) Dist { return Cauchy(p[0], p[1]) },
		At:   [][]float64{{0, 1}, {2, 0.5}}})
}
