// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Binomial is the distribution of the number of successes in n trials, each with success
// probability p.
//
//	log P = log C(n, k) + k log p + (n-k) log(1-p), k = 0..n
func Binomial(n, p any) Dist {
	q := Nodes(n, p)
	d := binomialOf(q[0], func() (success, failure *ad.Node) { return q[1], ad.Sub(one, q[1]) },
		func() *ad.Node { return ad.Sub(ad.Log1p(ad.Neg(q[1])), ad.Log(q[1])) },
		func(p []float64) (success, failure float64) { return p[1], 1 - p[1] })
	d.Name, d.Params = "binomial", q
	// At p = 0 and p = 1 all probability is at 0 or n, with derivatives at the counts next to them only.
	atEnds := func(inside, at0, at1 *ad.Node) *ad.Node {
		return ad.Where(ad.LessEqual(q[1], zero), at0, ad.Where(ad.GreaterEqual(q[1], one), at1, inside))
	}
	odds := func() *ad.Node {
		p := ad.Where(ad.Mul(ad.Greater(q[1], zero), ad.Less(q[1], one)), q[1], half)
		return ad.Sub(ad.Log1p(ad.Neg(p)), ad.Log(p))
	}
	d.LogCDFOf = func(x *ad.Node) *ad.Node {
		in := ad.LogBetaI(ad.Sub(q[0], x), ad.Shift(x, 1), odds())
		return atEnds(in, ad.Where(x, zero, ad.Neg(ad.Mul(q[0], q[1]))), minusInfinity)
	}
	d.LogCCDFOf = func(x *ad.Node) *ad.Node {
		in := ad.LogBetaI(ad.Shift(x, 1), ad.Sub(q[0], x), ad.Neg(odds()))
		last := ad.Equal(ad.Shift(x, 1), q[0])
		return atEnds(in, minusInfinity, ad.Where(last, ad.Mul(q[0], ad.Shift(q[1], -1)), zero))
	}
	return d
}

// BinomialLogit is Binomial with p given by its logit.
func BinomialLogit(n, logit any) Dist {
	q := Nodes(n, logit)
	// Exp of the clipped logit is a normal number, in 32 bits too.
	near := func() *ad.Node { return ad.Clip(q[1], -80, 80) }
	d := binomialOf(q[0], func() (success, failure *ad.Node) { return ad.Sigmoid(near()), ad.Sigmoid(ad.Neg(near())) },
		func() *ad.Node { return ad.Neg(q[1]) },
		func(p []float64) (success, failure float64) {
			return 1 / (1 + math.Exp(-p[1])), 1 / (1 + math.Exp(p[1]))
		})
	d.Name, d.Params = "binomiallogit", q
	inner := d.LogProbOf
	d.LogProbOf = func(x *ad.Node) *ad.Node {
		// What is missing beyond the clipped logit is 0 elsewhere, with a gradient of 0.
		beyond := func(sign float64) *ad.Node {
			return ad.Sub(ad.LogSigmoid(ad.Scale(sign, q[1])), ad.LogSigmoid(ad.Scale(sign, near())))
		}
		return ad.Add(inner(x), ad.Add(ad.Mul(x, beyond(1)), ad.Mul(ad.Sub(q[0], x), beyond(-1))))
	}
	return d
}

// binomialOf is the distribution of the number of successes in n trials; logOdds is
// log((1-p)/p).
func binomialOf(n *ad.Node, chances func() (success, failure *ad.Node), logOdds func() *ad.Node,
	at func(p []float64) (success, failure float64)) Dist {
	return Dist{Support: wholes(zero, n), Discrete: true,
		LogProbOf: func(x *ad.Node) *ad.Node {
			s, f := chances()
			return ad.Sub(chooseRest(n, x), ad.Add(ad.PoissonDeviance(x, ad.Mul(n, s)), ad.PoissonDeviance(ad.Sub(n, x), ad.Mul(n, f))))
		},
		LogCDFOf:  func(x *ad.Node) *ad.Node { return logBetaI(ad.Sub(n, x), ad.Shift(x, 1), logOdds()) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { return logBetaI(ad.Shift(x, 1), ad.Sub(n, x), ad.Neg(logOdds())) },
		RandOf: func(src Source, p []float64) float64 {
			s, f := at(p)
			return binomialRand(src, p[0], s, f)
		},
		CDFOf: func(x float64, p []float64) float64 {
			s, f := at(p)
			return lowerBeta(p[0]-x, x+1, math.Log(f)-math.Log(s))
		},
		MeanOf: func(p []float64) float64 { s, _ := at(p); return p[0] * s },
		VarianceOf: func(p []float64) float64 {
			s, f := at(p)
			return p[0] * s * f
		},
	}
}

// chooseRest returns log C(n, k) - n log n + k log k + (n-k) log(n-k), which stays small
// for large arguments.
func chooseRest(n, k *ad.Node) *ad.Node {
	return ad.Sub(ad.LogFactorialRest(n), ad.Add(ad.LogFactorialRest(k), ad.LogFactorialRest(ad.Sub(n, k))))
}

// binomialRand draws the number of successes in n trials. It adds up probabilities if few
// successes are expected and uses transformed rejection otherwise.
//
// Reference: Hörmann, doi 10.1080/00949659308811496 (BTRS).
func binomialRand(src Source, n, success, failure float64) float64 {
	switch {
	case math.IsNaN(n+success+failure) || math.IsInf(n, 0):
		return math.NaN()
	case n <= 0 || success <= 0:
		return 0
	case success > failure:
		return n - binomialRand(src, n, failure, success)
	case n*success < 10:
		return fewSuccesses(src, n, success, failure)
	}
	sd := math.Sqrt(n * success * failure)
	b := 1.15 + 2.53*sd
	a := -0.0873 + 0.0248*b + 0.01*success
	alpha := (2.83 + 5.1/b) * sd
	most := binomialLog(n, math.Floor((n+1)*success), success, failure)
	for {
		u, v := open(src)-0.5, open(src)
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + n*success + 0.5)
		switch {
		case k < 0 || k > n:
			continue
		case us >= 0.07 && v <= 0.92-4.2/b:
			return k
		case math.Log(v*alpha/(a/(us*us)+b)) <= binomialLog(n, k, success, failure)-most:
			return k
		}
	}
}

func fewSuccesses(src Source, n, success, failure float64) float64 {
	u, odds := open(src), success/failure
	p := math.Exp(n * math.Log1p(-success))
	for k := 0.0; ; {
		if u -= p; u <= 0 || k >= n {
			return k
		}
		k++
		p *= odds * (n - k + 1) / k
	}
}

// binomialLog returns the log probability of k without the terms that depend only on n.
func binomialLog(n, k, success, failure float64) float64 {
	return -factorialRest.Eval(k) - factorialRest.Eval(n-k) - deviance.Eval(k, n*success) - deviance.Eval(n-k, n*failure)
}

var (
	factorialRest = ad.LogFactorialRest(zero).Op()
	deviance      = ad.PoissonDeviance(one, one).Op()
)

func init() {
	register(Family{Name: "binomial", Params: []string{"n", "p"}, Want: []Support{Counts, closedUnit}, Linked: "binomiallogit",
		Make: func(p ...any) Dist { return Binomial(p[0], p[1]) },
		At:   [][]float64{{10, 0.3}, {60, 0.9}, {1, 0.5}, {400, 0.01}}})
	register(Family{Name: "binomiallogit", Params: []string{"n", "logit"}, Want: []Support{Counts, Real},
		Make: func(p ...any) Dist { return BinomialLogit(p[0], p[1]) },
		At:   [][]float64{{10, -0.8}, {30, 1}}})
}
