package dist

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"gonum.org/v1/gonum/mathext"
)

// Beta is the law on (0, 1) of shapes a and b.
//
//	log p = (a-1) log x + (b-1) log(1-x) - log B(a, b)
//
// computed from x and 1-x in units of their means, t and u, and the Stirling
// error s, whose terms stay small where a and b are large:
//
//	a (log t - (t-1)) + b (log u - (u-1)) + s(a+b) - s(a) - s(b)
//	+ log(a b/(2 pi (a+b)))/2 - log x - log(1-x)
func Beta(a, b any) Dist {
	p := nodes(a, b)
	return Dist{Name: "beta", Params: p, Support: Unit,
		logProb: func(x *ad.Node) *ad.Node {
			sum := ad.Add(p[0], p[1])
			s := ad.Sub(ad.StirlingError(sum), ad.Add(ad.StirlingError(p[0]), ad.StirlingError(p[1])))
			rest := ad.Sub(ad.Scale(0.5, ad.Log(ad.Mul(p[0], ad.Div(p[1], sum)))), ad.Add(ad.Log(x), ad.Log1p(ad.Neg(x))))
			bulk := ad.Add(deviance(p[0], ad.Mul(x, ad.Div(sum, p[0]))), deviance(p[1], ad.Mul(ad.Sub(ad.Scalar(1), x), ad.Div(sum, p[1]))))
			return ad.Shift(ad.AddN(bulk, s, rest), -halfLogTwoPi)
		},
		rand:     func(src Source, p []float64) float64 { return mathext.InvRegIncBeta(p[0], p[1], open(src)) },
		cdf:      func(x float64, p []float64) float64 { return mathext.RegIncBeta(p[0], p[1], x) },
		quantile: func(u float64, p []float64) float64 { return mathext.InvRegIncBeta(p[0], p[1], u) },
	}
}

func init() {
	laws = append(laws, Law{Name: "beta", Params: []string{"alpha", "beta"}, Want: []Support{Positive, Positive},
		Make: func(p ...any) Dist { return Beta(p[0], p[1]) },
		At:   [][]float64{{2, 2}, {0.8, 3}}})
}
