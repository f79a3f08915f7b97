package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// HalfNormal is the law of |x| for a normal x of mean 0 and standard deviation sigma.
//
//	log p = -(x/sigma)^2/2 - log sigma + log(2/pi)/2, x >= 0
func HalfNormal(sigma any) Dist {
	p := nodes(sigma)
	return Dist{Name: "halfnormal", Params: p, Support: NonNegative,
		logProb: func(x *ad.Node) *ad.Node {
			return ad.Sub(ad.Scale(-0.5, ad.Square(ad.Div(x, p[0]))), ad.Sub(ad.Log(p[0]), ad.Scalar(math.Log(2/math.Pi)/2)))
		},
		rand:     func(src Source, p []float64) float64 { return p[0] * math.Abs(src.Normal()) },
		cdf:      func(x float64, p []float64) float64 { return math.Erf(x / (p[0] * math.Sqrt2)) },
		quantile: func(u float64, p []float64) float64 { return p[0] * math.Sqrt2 * math.Erfinv(u) },
	}
}

func init() {
	laws = append(laws, Law{Name: "halfnormal", Params: []string{"sigma"}, Want: []Support{Positive},
		Make: func(p ...any) Dist { return HalfNormal(p[0]) },
		At:   [][]float64{{1}, {0.1}}})
}
