package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// LogNormal is the law of exp(x) for a normal x of mean mu and standard deviation sigma.
//
//	log p = -((log x - mu)/sigma)^2/2 - log x - log sigma - log(2 pi)/2, x > 0
func LogNormal(mu, sigma any) Dist {
	p := nodes(mu, sigma)
	return Dist{Name: "lognormal", Params: p, Support: Positive,
		logProb: func(x *ad.Node) *ad.Node {
			return ad.Sub(ad.Sub(ad.Scale(-0.5, ad.Square(standard(ad.Log(x), p[0], p[1]))), ad.Add(ad.Log(x), ad.Log(p[1]))), ad.Scalar(halfLogTwoPi))
		},
		rand:     func(src Source, p []float64) float64 { return math.Exp(p[0] + p[1]*src.Normal()) },
		cdf:      func(x float64, p []float64) float64 { return math.Erfc((p[0]-math.Log(x))/(p[1]*math.Sqrt2)) / 2 },
		quantile: func(u float64, p []float64) float64 { return math.Exp(p[0] + p[1]*math.Sqrt2*math.Erfinv(2*u-1)) },
	}
}

func init() {
	laws = append(laws, Law{Name: "lognormal", Params: []string{"mu", "sigma"}, Want: []Support{Real, Positive},
		Make: func(p ...any) Dist { return LogNormal(p[0], p[1]) },
		At:   [][]float64{{0, 2}, {0.5, 0.3}}})
}
