package dist

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"gonum.org/v1/gonum/mathext"
)

// Gamma is the law of shape a and rate b (mean a/b).
//
//	log p = a log b - log Gamma(a) + (a-1) log x - b x, x > 0
func Gamma(a, b any) Dist {
	p := nodes(a, b)
	return Dist{Name: "gamma", Params: p, Support: Positive,
		logProb: func(x *ad.Node) *ad.Node {
			return ad.Add(ad.Sub(ad.Mul(p[0], ad.Log(p[1])), ad.Lgamma(p[0])), ad.Sub(ad.Mul(ad.Shift(p[0], -1), ad.Log(x)), ad.Mul(p[1], x)))
		},
		rand:     func(src Source, p []float64) float64 { return mathext.GammaIncRegInv(p[0], open(src)) / p[1] },
		cdf:      func(x float64, p []float64) float64 { return mathext.GammaIncReg(p[0], p[1]*x) },
		quantile: func(u float64, p []float64) float64 { return mathext.GammaIncRegInv(p[0], u) / p[1] },
	}
}

func init() {
	laws = append(laws, Law{Name: "gamma", Params: []string{"a", "b"},
		New: func(p ...float64) Dist { return Gamma(p[0], p[1]) },
		At:  [][]float64{{2, 1}, {3.5, 0.5}}})
}
