package dist

import (
	"math"

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
			return ad.Sub(gammaCore(p[0], ad.Div(ad.Mul(p[1], x), p[0])), ad.Log(x))
		},
		rand:     func(src Source, p []float64) float64 { return mathext.GammaIncRegInv(p[0], open(src)) / p[1] },
		cdf:      func(x float64, p []float64) float64 { return mathext.GammaIncReg(p[0], p[1]*x) },
		quantile: func(u float64, p []float64) float64 { return mathext.GammaIncRegInv(p[0], u) / p[1] },
	}
}

// gammaCore returns the log density of log x for a Gamma x at x/mean = t:
//
//	a (log t - (t-1)) + log(a/(2 pi))/2 - s(a)
//
// with s the Stirling error; its terms stay small where a is large.
func gammaCore(a, t *ad.Node) *ad.Node {
	return ad.Add(deviance(a, t), ad.Shift(ad.Sub(ad.Scale(0.5, ad.Log(a)), ad.StirlingError(a)), -halfLogTwoPi))
}

// deviance returns a (log t - (t-1)), the log density's fall from t = 1: -Inf,
// not Inf - Inf, where t overflowed.
func deviance(a, t *ad.Node) *ad.Node {
	return ad.Mul(a, ad.Sub(ad.Log(ad.Minimum(t, ad.Scalar(math.MaxFloat64))), ad.Shift(t, -1)))
}

func init() {
	laws = append(laws, Law{Name: "gamma", Params: []string{"alpha", "beta"}, Want: []Support{Positive, Positive},
		Make: func(p ...any) Dist { return Gamma(p[0], p[1]) },
		At:   [][]float64{{2, 1}, {3.5, 0.5}}})
}
