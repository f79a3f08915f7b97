package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Skellam is the law of the difference of two Poisson counts of rates mu1 and mu2.
// It has no LogCDF.
//
//	log P = -(mu1+mu2) + k/2 log(mu1/mu2) + log I_|k|(2 sqrt(mu1 mu2))
//
// written with deviances from the counts that k = n1 - n2 makes most probable, for
// which n1 n2 = mu1 mu2, and with the Bessel function less its exponent at them.
func Skellam(mu1, mu2 any) Dist {
	p := nodes(mu1, mu2)
	return Dist{Name: "skellam", Params: p, Support: Support{Whole: true}, Discrete: true,
		logProb: func(x *ad.Node) *ad.Node {
			size := ad.Abs(x)
			arg := ad.Scale(2, ad.Mul(ad.Sqrt(p[0]), ad.Sqrt(p[1])))
			large := ad.Scale(0.5, ad.Add(size, ad.Hypot(size, arg)))
			small := ad.Scale(0.25, ad.Mul(arg, ad.Div(arg, large)))
			up := ad.GreaterEqual(x, zero)
			falls := ad.Add(ad.PoissonDeviance(ad.Where(up, large, small), p[0]), ad.PoissonDeviance(ad.Where(up, small, large), p[1]))
			return ad.Sub(ad.LogBesselIScaled(size, arg), falls)
		},
		rand: func(src Source, p []float64) float64 { return poissonRand(src, p[0]) - poissonRand(src, p[1]) },
		cdf:  skellamCDF,
		mean: func(p []float64) float64 { return p[0] - p[1] },
		variance: func(p []float64) float64 {
			return p[0] + p[1]
		},
	}
}

// skellamCDF sums, over the second count j, its probability times that of a first
// count of at most x + j.
func skellamCDF(x float64, p []float64) float64 {
	spread := 10*math.Sqrt(p[1]) + 30
	lo, hi := max(0, math.Floor(p[1]-spread), -x), math.Ceil(p[1]+spread)
	sum := 0.0
	for j := lo; j <= hi; j++ {
		sum += math.Exp(-deviance.Eval(j, p[1])-factorialRest.Eval(j)) * upperGamma(x+j+1, p[0])
	}
	return sum
}

func init() {
	register(Law{Name: "skellam", Params: []string{"mu1", "mu2"}, Want: []Support{Positive, Positive},
		Make: func(p ...any) Dist { return Skellam(p[0], p[1]) },
		At:   [][]float64{{3, 2}, {0.5, 8}}})
}
