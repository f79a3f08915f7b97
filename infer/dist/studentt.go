package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"gonum.org/v1/gonum/mathext"
)

// StudentT is Student's law of nu degrees of freedom, location mu and scale sigma.
//
//	log p = log Gamma((nu+1)/2) - log Gamma(nu/2) - log(nu pi)/2 - log sigma
//	        - (nu+1)/2 log(1 + z^2/nu), z = (x-mu)/sigma
func StudentT(nu, mu, sigma any) Dist {
	p := nodes(nu, mu, sigma)
	return Dist{Name: "studentt", Params: p, Support: Real,
		logProb: func(x *ad.Node) *ad.Node {
			tail := ad.Mul(ad.Scale(0.5, ad.Shift(p[0], 1)), ad.Log1p(ad.Div(ad.Square(standard(x, p[1], p[2])), p[0])))
			return ad.Sub(ad.Sub(studentNorm(p[0]), ad.Log(p[2])), tail)
		},
		rand:     func(src Source, p []float64) float64 { return p[1] + p[2]*studentQuantile(p[0], open(src)) },
		cdf:      func(x float64, p []float64) float64 { return studentCDF(p[0], (x-p[1])/p[2]) },
		quantile: func(u float64, p []float64) float64 { return p[1] + p[2]*studentQuantile(p[0], u) },
	}
}

// studentNorm returns log Gamma((nu+1)/2) - log Gamma(nu/2) - log(nu pi)/2. With
// h = nu/2 and s the Stirling error it is
//
//	s(h+1/2) - s(h) + h log(1 + 1/(2h)) - 1/2 - log(2 pi)/2
func studentNorm(nu *ad.Node) *ad.Node {
	h := ad.Scale(0.5, nu)
	s := ad.Sub(ad.StirlingError(ad.Shift(h, 0.5)), ad.StirlingError(h))
	return ad.Shift(ad.Add(s, ad.Mul(h, ad.Log1p(ad.Reciprocal(nu)))), -0.5-halfLogTwoPi)
}

func studentCDF(nu, z float64) float64 {
	if z*z < nu { // from the middle: the tail loses digits here
		return 0.5 + math.Copysign(mathext.RegIncBeta(0.5, nu/2, z*z/(nu+z*z))/2, z)
	}
	tail := mathext.RegIncBeta(nu/2, 0.5, nu/(nu+z*z)) / 2
	if z < 0 {
		return tail
	}
	return 1 - tail
}

func studentQuantile(nu, u float64) float64 {
	w := mathext.InvRegIncBeta(nu/2, 0.5, 2*math.Min(u, 1-u))
	return math.Copysign(math.Sqrt(nu*(1/w-1)), u-0.5)
}

func init() {
	laws = append(laws, Law{Name: "studentt", Params: []string{"nu", "mu", "sigma"}, Want: []Support{Positive, Real, Positive},
		Make: func(p ...any) Dist { return StudentT(p[0], p[1], p[2]) },
		At:   [][]float64{{4, 0, 1}, {2.5, 1, 0.3}}})
}
