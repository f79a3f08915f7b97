package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Normal is the Gaussian law of mean mu and standard deviation sigma.
//
//	log p = -((x-mu)/sigma)^2/2 - log sigma - log(2 pi)/2
func Normal(mu, sigma any) Dist {
	p := nodes(mu, sigma)
	return Dist{Name: "normal", Params: p, Support: Real,
		logProb: func(x *ad.Node) *ad.Node {
			return ad.Sub(ad.Sub(ad.Scale(-0.5, ad.Square(standard(x, p[0], p[1]))), ad.Log(p[1])), ad.Scalar(halfLogTwoPi))
		},
		rand:     func(src Source, p []float64) float64 { return p[0] + p[1]*src.Normal() },
		cdf:      func(x float64, p []float64) float64 { return math.Erfc((p[0]-x)/(p[1]*math.Sqrt2)) / 2 },
		quantile: func(u float64, p []float64) float64 { return p[0] + p[1]*math.Sqrt2*math.Erfinv(2*u-1) },
	}
}

func init() {
	laws = append(laws, Law{Name: "normal", Params: []string{"mu", "sigma"}, Want: []Support{Real, Positive},
		Make: func(p ...any) Dist { return Normal(p[0], p[1]) },
		At:   [][]float64{{0, 1}, {1.5, 0.2}}})
}
