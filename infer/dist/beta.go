package dist

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"gonum.org/v1/gonum/mathext"
)

// Beta is the law on (0, 1) of shapes a and b.
//
//	log p = (a-1) log x + (b-1) log(1-x) - log B(a, b)
func Beta(a, b any) Dist {
	p := nodes(a, b)
	return Dist{Name: "beta", Params: p, Support: Unit,
		logProb: func(x *ad.Node) *ad.Node {
			return ad.Sub(ad.Add(ad.Mul(ad.Shift(p[0], -1), ad.Log(x)), ad.Mul(ad.Shift(p[1], -1), ad.Log1p(ad.Neg(x)))), logBeta(p[0], p[1]))
		},
		rand:     func(src Source, p []float64) float64 { return mathext.InvRegIncBeta(p[0], p[1], open(src)) },
		cdf:      func(x float64, p []float64) float64 { return mathext.RegIncBeta(p[0], p[1], x) },
		quantile: func(u float64, p []float64) float64 { return mathext.InvRegIncBeta(p[0], p[1], u) },
	}
}

// logBeta returns log B(a, b).
func logBeta(a, b *ad.Node) *ad.Node {
	return ad.Sub(ad.Add(ad.Lgamma(a), ad.Lgamma(b)), ad.Lgamma(ad.Add(a, b)))
}

func init() {
	laws = append(laws, Law{Name: "beta", Params: []string{"a", "b"},
		New: func(p ...float64) Dist { return Beta(p[0], p[1]) },
		At:  [][]float64{{2, 2}, {0.8, 3}}})
}
