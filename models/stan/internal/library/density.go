// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/subnormal"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// term is a part of a log density that depends on some of its arguments only: it is dropped if these are known. needs has bit 0 for the
// variate and bit k for the k-th parameter.
type term struct {
	needs uint
	f     func(x []float64) float64 // x[0] is the variate
}

// bits of term.needs
const (
	v0 = 1 << iota
	p1
	p2
	p3
)

// family is a distribution of numbers, by which containers are compared element by element.
type family struct {
	name     string
	params   []string // sets of types of the parameters
	discrete bool
	of       func(p []*ad.Node) dist.Dist
	drop     []term
	cdf      bool
	// most returns the largest outcome, for distribution functions that are sums of probabilities; nil for those that have a form of their own.
	most func(x []float64) int
	// endless says that outcomes have no end: the upper tail is what the sum from 0 leaves.
	endless bool
}

func constant(x float64) term { return term{0, func([]float64) float64 { return x }} }

// logOf is the term -log p_k.
func logOf(k int, factor float64) term {
	return term{1 << k, func(x []float64) float64 { return factor * subnormal.Log(x[k]) }}
}

func lg(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return -subnormal.Log(x)
	}
	y, _ := math.Lgamma(x)
	return y
}

var (
	halfLog2Pi = 0.5 * math.Log(2*math.Pi)
	lchooseOf  = term{v0 | p1, func(x []float64) float64 { return lg(x[1]+1) - lg(x[0]+1) - lg(x[1]-x[0]+1) }}
	factorial  = term{v0, func(x []float64) float64 { return -lg(x[0] + 1) }}
)

// families are the distributions of numbers.
func families() []family {
	r := func(n int) (s []string) {
		for range n {
			s = append(s, "reals")
		}
		return s
	}
	half := func(x *ad.Node) *ad.Node { return ad.Scale(0.5, x) }
	return []family{
		{name: "normal", params: r(2), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Normal(p[0], p[1]) }, drop: []term{constant(-halfLog2Pi), logOf(2, -1)}},
		{name: "std_normal", params: r(0), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Normal(0.0, 1.0) }, drop: []term{constant(-halfLog2Pi)}},
		{name: "student_t", params: r(3), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.StudentT(p[0], p[1], p[2]) },
			drop: []term{constant(-0.5 * math.Log(math.Pi)), logOf(3, -1), {p1, func(x []float64) float64 { return lg((x[1]+1)/2) - lg(x[1]/2) - 0.5*subnormal.Log(x[1]) }}}},
		{name: "cauchy", params: r(2), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Cauchy(p[0], p[1]) }, drop: []term{constant(-math.Log(math.Pi)), logOf(2, -1)}},
		{name: "double_exponential", params: r(2), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Laplace(p[0], p[1]) }, drop: []term{constant(-math.Ln2), logOf(2, -1)}},
		{name: "logistic", params: r(2), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Logistic(p[0], p[1]) }, drop: []term{logOf(2, -1)}},
		{name: "gumbel", params: r(2), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Gumbel(p[0], p[1]) }, drop: []term{logOf(2, -1)}},
		{name: "lognormal", params: r(2), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.LogNormal(p[0], p[1]) }, drop: []term{logOf(2, -1), logOf(0, -1)}},
		{name: "exp_mod_normal", params: r(3), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.ExpModNormal(p[0], p[1], p[2]) }, drop: []term{constant(-math.Ln2), logOf(3, 1)}},
		{name: "skew_normal", params: r(3), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.SkewNormal(p[0], p[1], p[2]) }, drop: []term{constant(-halfLog2Pi), logOf(2, -1), {v0 | p1 | p2, func(x []float64) float64 { z := (x[0] - x[1]) / x[2]; return -0.5 * z * z }}}},
		{name: "skew_double_exponential", params: r(3), cdf: true, of: skewLaplace, drop: []term{constant(math.Ln2), logOf(2, -1), {p3, func(x []float64) float64 { return subnormal.Log(x[3]) + math.Log1p(-x[3]) }}}},
		{name: "chi_square", params: r(1), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.ChiSquared(p[0]) },
			drop: []term{{p1, func(x []float64) float64 { return -x[1]/2*math.Ln2 - lg(x[1]/2) }}, {v0, func(x []float64) float64 { return -x[0] / 2 }}}},
		{name: "inv_chi_square", params: r(1), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.InverseGamma(half(p[0]), 0.5) },
			drop: []term{{p1, func(x []float64) float64 { return -x[1]/2*math.Ln2 - lg(x[1]/2) }}, {v0, func(x []float64) float64 { return -0.5 / x[0] }}}},
		{name: "scaled_inv_chi_square", params: r(2), cdf: true, of: func(p []*ad.Node) dist.Dist {
			return dist.InverseGamma(half(p[0]), ad.Mul(half(p[0]), ad.Square(p[1])))
		}, drop: []term{{p1, func(x []float64) float64 { return x[1]/2*subnormal.Log(x[1]/2) - lg(x[1]/2) }}, {p1 | p2, func(x []float64) float64 { return x[1] * subnormal.Log(x[2]) }}, {v0 | p1, func(x []float64) float64 { return -(x[1]/2 + 1) * subnormal.Log(x[0]) }}}},
		{name: "exponential", params: r(1), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Exponential(p[0]) }, drop: []term{logOf(1, 1)}},
		{name: "gamma", params: r(2), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Gamma(p[0], p[1]) }, drop: []term{
			{p1, func(x []float64) float64 { return -lg(x[1]) }}, {p1 | p2, func(x []float64) float64 { return x[1] * subnormal.Log(x[2]) }},
			{v0 | p1, func(x []float64) float64 { return (x[1] - 1) * subnormal.Log(x[0]) }}, {v0 | p2, func(x []float64) float64 { return -x[0] * x[2] }}}},
		{name: "inv_gamma", params: r(2), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.InverseGamma(p[0], p[1]) }, drop: []term{
			{p1, func(x []float64) float64 { return -lg(x[1]) }}, {p1 | p2, func(x []float64) float64 { return x[1] * subnormal.Log(x[2]) }},
			{v0 | p1, func(x []float64) float64 { return -(x[1] + 1) * subnormal.Log(x[0]) }}, {v0 | p2, func(x []float64) float64 { return -x[2] / x[0] }}}},
		{name: "weibull", params: r(2), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Weibull(p[0], p[1]) }, drop: []term{
			logOf(1, 1), {v0 | p1, func(x []float64) float64 { return (x[1] - 1) * subnormal.Log(x[0]) }}, {p1 | p2, func(x []float64) float64 { return -x[1] * subnormal.Log(x[2]) }}}},
		{name: "frechet", params: r(2), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Frechet(p[0], p[1]) }, drop: []term{
			logOf(1, 1), {v0 | p1, func(x []float64) float64 { return -(x[1] + 1) * subnormal.Log(x[0]) }}, {p1 | p2, func(x []float64) float64 { return x[1] * subnormal.Log(x[2]) }}}},
		{name: "rayleigh", params: r(1), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Rayleigh(p[0]) }, drop: []term{logOf(1, -2), logOf(0, 1)}},
		{name: "loglogistic", params: r(2), cdf: true, of: logLogistic, drop: []term{{p1 | p2, func(x []float64) float64 { return subnormal.Log(x[2]) - x[2]*subnormal.Log(x[1]) }}}},
		{name: "pareto", params: r(2), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Pareto(p[0], p[1]) }, drop: []term{
			logOf(2, 1), {p1 | p2, func(x []float64) float64 { return x[2] * subnormal.Log(x[1]) }}, {v0 | p2, func(x []float64) float64 { return -(x[2] + 1) * subnormal.Log(x[0]) }}}},
		{name: "pareto_type_2", params: r(3), cdf: true, of: pareto2, drop: []term{logOf(3, 1), logOf(2, -1)}},
		{name: "beta", params: r(2), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Beta(p[0], p[1]) }, drop: []term{
			{p1, func(x []float64) float64 { return -lg(x[1]) }}, {p2, func(x []float64) float64 { return -lg(x[2]) }},
			{p1 | p2, func(x []float64) float64 { return lg(x[1] + x[2]) }},
			{v0 | p1, func(x []float64) float64 { return (x[1] - 1) * subnormal.Log(x[0]) }}, {v0 | p2, func(x []float64) float64 { return (x[2] - 1) * math.Log1p(-x[0]) }}}},
		{name: "beta_proportion", params: r(2), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.BetaProportion(p[0], p[1]) }, drop: []term{
			{p2, func(x []float64) float64 { return lg(x[2]) }},
			{p1 | p2, func(x []float64) float64 { return -lg(x[1]*x[2]) - lg((1-x[1])*x[2]) }}}},
		{name: "von_mises", params: r(2), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.VonMises(p[0], p[1]) }, drop: []term{
			constant(-math.Log(2 * math.Pi)), {p2, func(x []float64) float64 { return -logI0(x[2]) }}}},
		{name: "uniform", params: r(2), cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Uniform(p[0], p[1]) }, drop: []term{
			{p1 | p2, func(x []float64) float64 { return -subnormal.Log(x[2] - x[1]) }}}},
		{name: "bernoulli", params: r(1), discrete: true, cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Bernoulli(p[0]) }},
		{name: "bernoulli_logit", params: r(1), discrete: true, of: func(p []*ad.Node) dist.Dist { return dist.BernoulliLogit(p[0]) }},
		{name: "binomial", params: []string{"ints", "reals"}, discrete: true, cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Binomial(p[0], p[1]) }, drop: []term{lchooseOf}},
		{name: "binomial_logit", params: []string{"ints", "reals"}, discrete: true, of: func(p []*ad.Node) dist.Dist { return dist.BinomialLogit(p[0], p[1]) }, drop: []term{lchooseOf}},
		{name: "beta_binomial", params: []string{"ints", "reals", "reals"}, discrete: true, cdf: true, most: func(x []float64) int { return int(x[1]) }, of: func(p []*ad.Node) dist.Dist { return dist.BetaBinomial(p[0], p[1], p[2]) }, drop: []term{lchooseOf}},
		{name: "beta_neg_binomial", params: r(3), discrete: true, cdf: true, endless: true, of: betaNegBinomial, drop: []term{factorial}},
		{name: "yule_simon", params: r(1), discrete: true, cdf: true, of: yuleSimon, drop: []term{{v0, func(x []float64) float64 { return lg(x[0]) }}}},
		{name: "hypergeometric", params: []string{"ints", "ints", "ints"}, discrete: true, of: func(p []*ad.Node) dist.Dist {
			return dist.Hypergeometric(ad.Add(p[1], p[2]), p[1], p[0])
		}},
		{name: "neg_binomial", params: r(2), discrete: true, cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.NegBinomial2(ad.Div(p[0], p[1]), p[0]) }, drop: []term{
			{v0 | p1, func(x []float64) float64 { return lg(x[0]+x[1]) - lg(x[1]) - lg(x[0]+1) }}}},
		{name: "neg_binomial_2", params: r(2), discrete: true, cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.NegBinomial2(p[0], p[1]) }, drop: []term{{v0 | p1, func(x []float64) float64 { return timesLog(x[0], x[1]) }},
			{v0 | p2, func(x []float64) float64 { return lg(x[0]+x[2]) - lg(x[2]) - lg(x[0]+1) }}}},
		{name: "neg_binomial_2_log", params: r(2), discrete: true, of: func(p []*ad.Node) dist.Dist { return dist.NegBinomial2Log(p[0], p[1]) }, drop: []term{{v0 | p1, func(x []float64) float64 { return x[0] * x[1] }},
			{v0 | p2, func(x []float64) float64 { return lg(x[0]+x[2]) - lg(x[2]) - lg(x[0]+1) }}}},
		{name: "poisson", params: r(1), discrete: true, cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Poisson(p[0]) }, drop: []term{factorial}},
		{name: "poisson_log", params: r(1), discrete: true, of: func(p []*ad.Node) dist.Dist { return dist.PoissonLog(p[0]) }, drop: []term{factorial}},
		{name: "geometric", params: r(1), discrete: true, cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.Geometric(p[0]) }},
		{name: "discrete_range", params: []string{"ints", "ints"}, discrete: true, cdf: true, of: func(p []*ad.Node) dist.Dist { return dist.DiscreteUniform(p[0], p[1]) }},
	}
}

// logI0 is the logarithm of the modified Bessel function I_0.
func logI0(x float64) float64 {
	d, err := ad.Numbers(ad.BesselLogI0e(ad.Scalar(x)))
	if err != nil {
		return math.NaN()
	}
	return d[0][0] + math.Abs(x)
}

// skewLaplace is the density 2 tau (1 - tau)/sigma exp(-2/sigma ((1 - tau) 1[y < mu] (mu - y) + tau 1[y > mu] (y - mu))).
func skewLaplace(p []*ad.Node) dist.Dist {
	tau := p[2]
	one := ad.Sub(ad.Scalar(1), tau)
	kappa := ad.Sqrt(ad.Div(tau, one)) // dist: exp(-|y - mu| kappa/b) above, exp(-|y - mu|/(kappa b)) below
	b := ad.Div(p[1], ad.Scale(2, ad.Sqrt(ad.Mul(tau, one))))
	return dist.AsymmetricLaplace(p[0], b, kappa)
}

// logLogistic has the density (b/a) (y/a)^(b - 1)/(1 + (y/a)^b)^2.
func logLogistic(p []*ad.Node) dist.Dist {
	a, b := p[0], p[1]
	z := func(y *ad.Node) *ad.Node { return ad.Mul(b, ad.Sub(ad.Log(y), ad.Log(a))) }
	return dist.Dist{Name: "log-logistic", Params: p, Support: dist.Interval(0.0, inf),
		LogProbOf: func(y *ad.Node) *ad.Node {
			u := z(y)
			return ad.Sub(ad.Sub(ad.Add(ad.Log(b), u), ad.Log(y)), ad.Scale(2, ad.Softplus(u)))
		},
		LogCDFOf:  func(y *ad.Node) *ad.Node { return ad.LogSigmoid(z(y)) },
		LogCCDFOf: func(y *ad.Node) *ad.Node { return ad.LogSigmoid(ad.Neg(z(y))) },
		RandOf: func(src dist.Source, p []float64) float64 {
			u := src.Float64()
			return p[0] * math.Pow(u/(1-u), 1/p[1])
		}}
}

// pareto2 has the density a/l (1 + (y - m)/l)^-(a + 1).
func pareto2(p []*ad.Node) dist.Dist {
	m, l, a := p[0], p[1], p[2]
	z := func(y *ad.Node) *ad.Node { return ad.Log1p(ad.Div(ad.Sub(y, m), l)) }
	return dist.Dist{Name: "Pareto type 2", Params: p, Support: dist.Interval(m, inf),
		LogProbOf: func(y *ad.Node) *ad.Node {
			return ad.Sub(ad.Sub(ad.Log(a), ad.Log(l)), ad.Mul(ad.Shift(a, 1), z(y)))
		},
		LogCDFOf:  func(y *ad.Node) *ad.Node { return ad.Log1mExp(ad.Neg(ad.Mul(a, z(y)))) },
		LogCCDFOf: func(y *ad.Node) *ad.Node { return ad.Neg(ad.Mul(a, z(y))) },
		RandOf: func(src dist.Source, p []float64) float64 {
			return p[0] + p[1]*(math.Pow(src.Float64(), -1/p[2])-1)
		}}
}

// betaNegBinomial is the number of failures before r successes whose probability has a beta distribution.
func betaNegBinomial(p []*ad.Node) dist.Dist {
	positive := func(x *ad.Node) *ad.Node { return ad.Where(ad.Greater(x, ad.Scalar(0)), x, ad.Scalar(math.NaN())) }
	r, a, b := positive(p[0]), positive(p[1]), positive(p[2])
	return dist.Dist{Name: "beta negative binomial", Params: p, Support: dist.Interval(0.0, inf), Discrete: true,
		LogProbOf: func(n *ad.Node) *ad.Node {
			ways := ad.Sub(ad.Lgamma(ad.Add(n, r)), ad.Add(ad.Lgamma(ad.Shift(n, 1)), ad.Lgamma(r)))
			return ad.Add(ways, ad.Sub(lbeta(ad.Add(b, n), ad.Add(a, r)), lbeta(b, a)))
		},
		RandOf: func(src dist.Source, p []float64) float64 {
			gamma := func(a float64) float64 { return dist.Gamma(a, 1.0).Rand(src, []float64{a, 1}) }
			rate := gamma(p[0]) * gamma(p[2]) / gamma(p[1])
			return dist.Poisson(rate).Rand(src, []float64{rate})
		}}
}

// yuleSimon has the probabilities a B(n, a + 1) of n = 1, 2, ... Of more than n it is n B(n, a + 1).
func yuleSimon(p []*ad.Node) dist.Dist {
	a := p[0]
	one := ad.Scalar(1)
	beyond := func(n *ad.Node) *ad.Node {
		inside := ad.GreaterEqual(n, one)
		k := ad.Where(inside, n, one)
		return ad.Where(inside, ad.Add(ad.Log(k), lbeta(k, ad.Shift(a, 1))), ad.Scalar(0))
	}
	return dist.Dist{Name: "Yule-Simon", Params: p, Support: dist.Interval(1.0, inf), Discrete: true,
		LogProbOf: func(n *ad.Node) *ad.Node { return ad.Add(ad.Log(a), lbeta(n, ad.Shift(a, 1))) },
		LogCDFOf:  func(n *ad.Node) *ad.Node { return ad.Log1mExp(beyond(n)) },
		LogCCDFOf: beyond,
		RandOf: func(src dist.Source, p []float64) float64 {
			w := -math.Log1p(-src.Float64()) / p[0] // an exponential number
			return 1 + math.Floor(math.Log(src.Float64())/log1mExp(-w))
		}}
}

// densities registers them.
func densities() {
	for _, f := range families() {
		f.register()
		byName[f.name] = f
	}
}

var byName = map[string]family{}

// Observed returns the distribution of an observation whose parameters are nodes, and false for distributions of which single observations
// are not judged.
func Observed(name string, p []*ad.Node) (dist.Dist, bool) {
	if of, ok := choices[name]; ok {
		return fromOne(of(p)), true
	}
	f, ok := byName[name]
	if !ok || len(p) != len(f.params) {
		return dist.Dist{}, false
	}
	return f.of(p), true
}

// choices are the distributions of numbers from 1 on whose last parameter is a vector, by what counts them from 0.
var choices = map[string]func(p []*ad.Node) dist.Dist{
	"ordered_logistic":  func(p []*ad.Node) dist.Dist { return dist.OrderedLogistic(p[0], p[1]) },
	"ordered_probit":    func(p []*ad.Node) dist.Dist { return orderedProbit(p[0], p[1]) },
	"categorical":       func(p []*ad.Node) dist.Dist { return dist.Categorical(p[0]) },
	"categorical_logit": func(p []*ad.Node) dist.Dist { return dist.CategoricalLogits(p[0]) },
}

// HasVector reports whether the last parameter of the distribution of an observation is a vector.
func HasVector(name string) bool { return choices[name] != nil }

// fromOne counts the numbers of a distribution from 1.
func fromOne(d dist.Dist) dist.Dist {
	out := dist.Dist{Name: d.Name + " from 1", Params: d.Params, ParamEvent: d.ParamEvent, Discrete: true, LogProbOf: func(x *ad.Node) *ad.Node { return d.LogProb(minusOne(x)) }}
	_, most := d.Support.Ends()
	out.Support = dist.Interval(1.0, most+1)
	out.Support.Whole = true
	if d.RandOf != nil {
		out.RandOf = func(src dist.Source, p []float64) float64 { return 1 + d.RandOf(src, p) }
	}
	if d.CDFOf != nil {
		out.CDFOf = func(x float64, p []float64) float64 { return d.CDF(x-1, p) }
	}
	if d.MeanOf != nil && d.VarianceOf != nil {
		out.MeanOf, out.VarianceOf = func(p []float64) float64 { return 1 + d.MeanOf(p) }, d.VarianceOf
	}
	return out
}

func (f family) signature(result string) string {
	first := "reals"
	if f.discrete {
		first = "ints"
	}
	s := first
	for _, p := range f.params {
		s += " " + p
	}
	return s + " => " + result
}

func (f family) register() {
	suffix := "_lpdf"
	if f.discrete {
		suffix = "_lpmf"
	}
	register(f.name+suffix, true, f.density, f.signature("real"))
	functions[f.name+suffix].Graph = true
	if f.cdf {
		register(f.name+"_lcdf", true, f.tail(dist.Dist.LogCDF, false, false), f.signature("real"))
		register(f.name+"_lccdf", true, f.tail(dist.Dist.LogCCDF, true, false), f.signature("real"))
		register(f.name+"_cdf", true, f.tail(dist.Dist.LogCDF, false, true), f.signature("real"))
	}
	var args string
	for _, p := range f.params {
		args += " " + p
	}
	o := typing.Sig(args + " => real")
	kind := typing.Real
	if f.discrete {
		kind = typing.Int
	}
	o.Result = func(a []typing.Type) (typing.Type, bool) {
		for _, t := range a {
			if !t.Scalar() {
				return typing.Of(kind, 1), true
			}
		}
		return typing.Of(kind), true
	}
	functions[f.name+"_rng"] = &Function{Name: f.name + "_rng", Do: f.draw, Overloads: []typing.Overload{o}}
}

// elements flattens the arguments to vectors of one length.
func elements(args []value.Value) (flat []value.Value, shape []int, err error) {
	for _, a := range args {
		if len(a.Shape) > 1 {
			a = a.Reshape(a.Type, a.Size())
		}
		flat = append(flat, a)
	}
	shape, err = broadcast(flat...)
	return flat, shape, err
}

// total sums elements over the axes of the value, with the number of lanes.
func total(n *ad.Node, lanes int, shape []int) *ad.Node {
	full := shape
	if lanes > 0 {
		full = append([]int{lanes}, shape...)
	}
	if !slices.Equal([]int(n.Shape()), full) {
		n = ad.Broadcast(n, full...)
	}
	if lanes == 0 {
		return ad.Sum(n)
	}
	if len(shape) == 0 {
		return n
	}
	return ad.SumAxes(n, 1)
}

// density is the sum of the log density over all elements.
func (f family) density(c *Call) (value.Value, error) {
	args, shape, err := elements(c.Args)
	if err != nil {
		return value.Value{}, err
	}
	if value.Size(shape) == 0 || c.Drop && allKnown(args...) {
		return value.Real(0), f.outside(c, args)
	}
	if err := f.outside(c, args); err != nil {
		return value.Value{}, err
	}
	lanes := lanesOf(args...)
	var p []*ad.Node
	for _, a := range args[1:] {
		p = append(p, ranked(a, len(shape)))
	}
	n := total(logDensity(f.name, f.of, ranked(args[0], len(shape)), p), lanes, shape)
	v, err := result(c, n, lanes)
	if err != nil || !c.Drop {
		return v, err
	}
	return f.thinned(v, args, shape)
}

// logDensity is the log density of the elements of y, by its plain formula if it has one.
func logDensity(name string, of func(p []*ad.Node) dist.Dist, y *ad.Node, p []*ad.Node) *ad.Node {
	if plain := directs[name]; plain != nil {
		if e := plain(y, p); e != nil {
			return e
		}
	}
	return of(p).LogProb(y)
}

// thinned subtracts the terms that depend on known numbers only.
func (f family) thinned(v value.Value, args []value.Value, shape []int) (value.Value, error) {
	lanes := max(1, v.Lanes)
	size := value.Size(shape)
	off := make([]float64, lanes)
	any := false
	for _, t := range f.drop {
		fixed := true
		for k, a := range args {
			fixed = fixed && (t.needs&(1<<k) == 0 || a.Known())
		}
		if !fixed {
			continue
		}
		any = true
		x := make([]float64, len(args))
		for l := range lanes {
			for i := range size {
				for k, a := range args {
					if t.needs&(1<<k) != 0 {
						x[k] = at(a, l, i)
					}
				}
				off[l] += t.f(x)
			}
		}
	}
	if !any {
		return v, nil
	}
	o := value.Value{Type: v.Type, F: off, Lanes: v.Lanes}
	return combine(v, o, v.Type, func(x, y float64) float64 { return x - y }, ad.Sub)
}

// outside fails if known parameters are outside their range, as Stan's densities do.
func (f family) outside(c *Call, args []value.Value) error {
	var p []*ad.Node
	for _, a := range args[1:] {
		if !a.Known() || a.Lanes > 0 || a.Size() == 0 {
			return nil // judged where the density is computed
		}
		p = append(p, a.Node())
	}
	return f.of(p).Err()
}

// summed is the logarithm of the probability of at most x, or of more than x, as a sum of probabilities.
func (f family) summed(above bool) func(d dist.Dist, args []value.Value) (*ad.Node, error) {
	return func(d dist.Dist, args []value.Value) (*ad.Node, error) {
		var all []*ad.Node
		_, shape, _ := elements(args)
		for i := range value.Size(shape) {
			x := []float64{at(args[0], 0, i)}
			from, to := 0, int(x[0])
			if above && !f.endless {
				x = append(x, at(args[1], 0, i))
				from, to = int(x[0])+1, f.most(x)
			}
			var p []*ad.Node
			for _, a := range args[1:] {
				n := a.Node()
				if len(a.Shape) > 0 {
					n = ad.Index(n, 0, i)
				}
				p = append(p, n)
			}
			if to < from || x[0] < 0 && (!above || f.endless) {
				all = append(all, ad.Scalar(map[bool]float64{true: 0, false: -inf}[above && f.endless]))
				continue
			}
			var terms []*ad.Node
			for k := max(0, from); k <= to; k++ {
				terms = append(terms, f.of(p).LogProb(ad.Scalar(float64(k))))
			}
			sum := ad.LogSumExp(ad.Stack(0, terms...), 0)
			if above && f.endless {
				sum = ad.Log1mExp(sum)
			}
			all = append(all, sum)
		}
		return ad.AddN(all...), nil
	}
}

// tail is the sum of the logarithms of a distribution function, or its exponential.
func (f family) tail(of func(d dist.Dist, x *ad.Node) *ad.Node, above, plain bool) func(c *Call) (value.Value, error) {
	return func(c *Call) (value.Value, error) {
		args, shape, err := elements(c.Args)
		if err != nil {
			return value.Value{}, err
		}
		if value.Size(shape) == 0 {
			return value.Real(b2f(plain)), nil
		}
		lanes := lanesOf(args...)
		var p []*ad.Node
		for _, a := range args[1:] {
			p = append(p, ranked(a, len(shape)))
		}
		var n *ad.Node
		if f.most != nil || f.endless {
			if lanes > 0 || !args[0].Known() || !args[1].Known() && !f.endless {
				return value.Value{}, value.ErrUnroll
			}
			if n, err = f.summed(above)(f.of(p), args); err != nil {
				return value.Value{}, err
			}
		} else {
			n = total(of(f.of(p), ranked(args[0], len(shape))), lanes, shape)
		}
		if plain {
			n = ad.Exp(n)
		}
		return result(c, n, lanes)
	}
}

// draw draws random numbers.
func (f family) draw(c *Call) (value.Value, error) {
	args, shape, err := elements(c.Args)
	if err != nil {
		return value.Value{}, err
	}
	if !allKnown(args...) || lanesOf(args...) > 0 {
		return value.Value{}, errRandom
	}
	var p []*ad.Node
	for _, a := range args {
		p = append(p, a.Node())
	}
	d := f.of(p)
	if !d.CanDraw() {
		return value.Value{}, fmt.Errorf("%s has no random numbers: use another distribution", f.name)
	}
	out := make([]float64, value.Size(shape))
	x := make([]float64, len(args))
	for i := range out {
		for k, a := range args {
			x[k] = at(a, 0, i)
		}
		own, err := f.numbers(d, x)
		if err != nil {
			return value.Value{}, err
		}
		out[i] = d.Rand(c.Random, own)
		if math.IsNaN(out[i]) {
			return value.Value{}, fmt.Errorf("the parameters %v are outside their range: check what they are computed from", x)
		}
	}
	return value.Known(c.Result, out, shape...), nil
}

// numbers returns the parameters of dist's distribution for those of Stan's.
func (f family) numbers(d dist.Dist, x []float64) ([]float64, error) {
	switch f.name {
	case "inv_chi_square":
		return []float64{x[0] / 2, 0.5}, nil
	case "scaled_inv_chi_square":
		return []float64{x[0] / 2, x[0] / 2 * x[1] * x[1]}, nil
	case "neg_binomial":
		return []float64{x[0] / x[1], x[0]}, nil
	case "std_normal":
		return []float64{0, 1}, nil
	case "hypergeometric":
		return []float64{x[1] + x[2], x[1], x[0]}, nil
	case "skew_double_exponential":
		t := x[2]
		return []float64{x[0], x[1] / (2 * math.Sqrt(t*(1-t))), math.Sqrt(t / (1 - t))}, nil
	}
	return x, nil
}
