package dist

import (
	ad "github.com/euryale-dev/euryale/autodiff"
)

// Uniform is the law of equal density between lower and upper.
//
//	log p = -log(upper - lower)
func Uniform(lower, upper any) Dist {
	p := nodes(lower, upper)
	return Dist{Name: "uniform", Params: p, Support: Support{Lower: p[0], Upper: p[1]},
		logProb: func(x *ad.Node) *ad.Node {
			return ad.Broadcast(ad.Neg(ad.Log(ad.Sub(p[1], p[0]))), x.Shape()...)
		},
		rand:     func(src Source, p []float64) float64 { return p[0] + (p[1]-p[0])*open(src) },
		cdf:      func(x float64, p []float64) float64 { return min(1, max(0, (x-p[0])/(p[1]-p[0]))) },
		quantile: func(u float64, p []float64) float64 { return p[0] + u*(p[1]-p[0]) },
	}
}

func init() {
	laws = append(laws, Law{Name: "uniform", Params: []string{"low", "high"}, Want: []Support{Real, Real}, Rule: increasing,
		Make: func(p ...any) Dist { return Uniform(p[0], p[1]) },
		At:   [][]float64{{0, 1}, {-2, 3}}})
}
