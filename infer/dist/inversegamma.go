package dist

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"gonum.org/v1/gonum/mathext"
)

// InverseGamma is the law of 1/x for a Gamma(a, b) x.
//
//	log p = a log b - log Gamma(a) - (a+1) log x - b/x, x > 0
func InverseGamma(a, b any) Dist {
	p := nodes(a, b)
	return Dist{Name: "inversegamma", Params: p, Support: Positive,
		logProb: func(x *ad.Node) *ad.Node {
			return ad.Sub(gammaCore(p[0], ad.Div(ad.Div(p[1], x), p[0])), ad.Log(x))
		},
		rand:     func(src Source, p []float64) float64 { return p[1] / mathext.GammaIncRegInv(p[0], open(src)) },
		cdf:      func(x float64, p []float64) float64 { return mathext.GammaIncRegComp(p[0], p[1]/x) },
		quantile: func(u float64, p []float64) float64 { return p[1] / mathext.GammaIncRegInv(p[0], 1-u) },
	}
}

func init() {
	laws = append(laws, Law{Name: "inversegamma", Params: []string{"alpha", "beta"}, Want: []Support{Positive, Positive},
		Make: func(p ...any) Dist { return InverseGamma(p[0], p[1]) },
		At:   [][]float64{{3, 1}, {4, 2.5}}})
}
