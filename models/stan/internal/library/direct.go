// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Package dist guards its densities against infinite arguments and those out of range, so that gradients stay numbers there. A density of
// Stan is not a number at such points, which are rejected. The forms here are therefore the plain formulas, with a fraction of the
// operations; each returns nil where the plain formula would accept what Stan rejects, or reject what it accepts, and then that of package
// dist takes its place.

// direct is the plain formula of a log density of y with parameters p.
type direct func(y *ad.Node, p []*ad.Node) *ad.Node

// directs are the plain formulas by name.
var directs = map[string]direct{
	"normal":          func(y *ad.Node, p []*ad.Node) *ad.Node { return ad.Shift(gaussian(y, p[0], p[1]), -halfLog2Pi) },
	"std_normal":      func(y *ad.Node, p []*ad.Node) *ad.Node { return ad.Shift(ad.Scale(-0.5, ad.Square(y)), -halfLog2Pi) },
	"cauchy":          directCauchy,
	"student_t":       directStudent,
	"lognormal":       directLogNormal,
	"exponential":     directExponential,
	"gamma":           directGamma,
	"inv_gamma":       directInverseGamma,
	"beta":            directBeta,
	"uniform":         directUniform,
	"bernoulli":       directBernoulli,
	"bernoulli_logit": directBernoulliLogit,
	"binomial":        directBinomial,
	"binomial_logit":  directBinomialLogit,
	"poisson":         directPoisson,
	"poisson_log":     directPoissonLog,
}

// gaussian is the log density of a normal distribution without its constant.
func gaussian(y, mu, sigma *ad.Node) *ad.Node {
	d := ad.Sub(y, mu)
	if sigma.Size() == 1 { // one division for all
		return ad.Sub(ad.Mul(ad.Div(ad.Scalar(-0.5), ad.Square(sigma)), ad.Square(d)), ad.Log(sigma))
	}
	return ad.Sub(ad.Scale(-0.5, ad.Square(over(d, sigma))), ad.Log(sigma))
}

// over is x divided by s, as a product if s is known.
func over(x, s *ad.Node) *ad.Node {
	if s.Numbers() == nil {
		return ad.Div(x, s)
	}
	return ad.Mul(x, mapped(s, func(v float64) float64 { return 1 / v }))
}

func directCauchy(y *ad.Node, p []*ad.Node) *ad.Node {
	z := over(ad.Sub(y, p[0]), p[1])
	return ad.Shift(ad.Neg(ad.Add(ad.Log1p(ad.Square(z)), ad.Log(p[1]))), -math.Log(math.Pi))
}

func directStudent(y *ad.Node, p []*ad.Node) *ad.Node {
	if !fixed(p[0], positive) {
		return nil
	}
	z := over(ad.Sub(y, p[1]), p[2])
	half := mapped(p[0], func(nu float64) float64 { return -(nu + 1) / 2 })
	off := mapped(p[0], func(nu float64) float64 { return lg((nu+1)/2) - lg(nu/2) - 0.5*math.Log(math.Pi*nu) })
	return ad.Add(ad.Sub(ad.Mul(half, ad.Log1p(over(ad.Square(z), p[0]))), ad.Log(p[2])), off)
}

func directLogNormal(y *ad.Node, p []*ad.Node) *ad.Node {
	l := ad.Log(y)
	return ad.Shift(ad.Sub(gaussian(l, p[0], p[1]), l), -halfLog2Pi)
}

func directExponential(y *ad.Node, p []*ad.Node) *ad.Node {
	if lo, _ := bounds(y); lo < 0 {
		return nil
	}
	return ad.Sub(ad.Log(p[0]), ad.Mul(p[0], y))
}

func directGamma(y *ad.Node, p []*ad.Node) *ad.Node {
	if lo, _ := bounds(y); lo < 0 || !fixed(p[0], positive) {
		return nil
	}
	e := ad.Sub(ad.Mul(p[0], ad.Log(p[1])), ad.Mul(p[1], y))
	e = ad.Sub(e, mapped(p[0], lg))
	return plus(e, ad.Shift(p[0], -1), ad.Log(y))
}

func directInverseGamma(y *ad.Node, p []*ad.Node) *ad.Node {
	if lo, _ := bounds(y); lo < 0 || !fixed(p[0], positive) {
		return nil
	}
	e := ad.Sub(ad.Mul(p[0], ad.Log(p[1])), ad.Div(p[1], y))
	e = ad.Sub(e, mapped(p[0], lg))
	return ad.Sub(e, ad.Mul(ad.Shift(p[0], 1), ad.Log(y)))
}

func directBeta(y *ad.Node, p []*ad.Node) *ad.Node {
	if lo, hi := bounds(y); lo < 0 || hi > 1 || !fixed(p[0], positive) || !fixed(p[1], positive) {
		return nil
	}
	e := ad.Sub(mapped(ad.Add(p[0], p[1]), lg), ad.Add(mapped(p[0], lg), mapped(p[1], lg)))
	e = plus(e, ad.Shift(p[0], -1), ad.Log(y))
	return plus(e, ad.Shift(p[1], -1), ad.Log1p(ad.Neg(y)))
}

func directUniform(y *ad.Node, p []*ad.Node) *ad.Node {
	if !fixed(p[0], finite) || !fixed(p[1], finite) {
		return nil
	}
	lo, hi := bounds(y)
	if lo < slices.Max(source(p[0]).Numbers()) || hi > slices.Min(source(p[1]).Numbers()) {
		return nil
	}
	return ad.Neg(ad.Log(ad.Sub(p[1], p[0])))
}

func directBernoulli(y *ad.Node, p []*ad.Node) *ad.Node {
	if !fixed(y, finite) || !insideUnit(p[0]) {
		return nil
	}
	return ad.Add(ad.Mul(y, ad.Log(p[0])), ad.Mul(ad.Sub(ad.Scalar(1), y), ad.Log1p(ad.Neg(p[0]))))
}

func directBernoulliLogit(y *ad.Node, p []*ad.Node) *ad.Node {
	return ad.Sub(ad.Mul(y, p[0]), ad.Softplus(p[0]))
}

// chosen is the logarithm of the number of ways to choose y of n.
func chosen(y, n *ad.Node) *ad.Node {
	return ad.Sub(ad.Lgamma(ad.Shift(n, 1)), ad.Add(ad.Lgamma(ad.Shift(y, 1)), ad.Lgamma(ad.Shift(ad.Sub(n, y), 1))))
}

func directBinomial(y *ad.Node, p []*ad.Node) *ad.Node {
	if !countsOf(y, p[0]) || !insideUnit(p[1]) {
		return nil
	}
	e := ad.Add(ad.Mul(y, ad.Log(p[1])), ad.Mul(ad.Sub(p[0], y), ad.Log1p(ad.Neg(p[1]))))
	return ad.Add(e, chosen(y, p[0]))
}

func directBinomialLogit(y *ad.Node, p []*ad.Node) *ad.Node {
	if !countsOf(y, p[0]) {
		return nil
	}
	e := ad.Sub(ad.Mul(y, p[1]), ad.Mul(p[0], ad.Softplus(p[1])))
	return ad.Add(e, chosen(y, p[0]))
}

// countsOf says that y are known numbers of successes in n trials.
func countsOf(y, n *ad.Node) bool {
	a, b := source(y).Numbers(), source(n).Numbers()
	if len(a) == 0 || len(b) == 0 || slices.Min(a) < 0 || slices.Min(b) < 0 {
		return false
	}
	if y.Op() != nil || n.Op() != nil || len(a) != len(b) { // not element by element
		return slices.Max(a) <= slices.Min(b)
	}
	for i := range a {
		if !(a[i] <= b[i]) {
			return false
		}
	}
	return true
}

func directPoisson(y *ad.Node, p []*ad.Node) *ad.Node {
	if !fixed(y, finite) || slices.Min(source(y).Numbers()) < 0 || !openBelow(p[0], 6) {
		return nil
	}
	return ad.Sub(ad.Sub(ad.Mul(y, ad.Log(p[0])), p[0]), ad.Lgamma(ad.Shift(y, 1)))
}

func directPoissonLog(y *ad.Node, p []*ad.Node) *ad.Node {
	if !fixed(y, finite) || slices.Min(source(y).Numbers()) < 0 {
		return nil
	}
	return ad.Sub(ad.Sub(ad.Mul(y, p[0]), ad.Exp(p[0])), ad.Lgamma(ad.Shift(y, 1)))
}

// plus adds the product of known coefficients and x to e, but not where all of these are 0: 0 log 0 is 0.
func plus(e, c, x *ad.Node) *ad.Node {
	d, err := ad.Numbers(c)
	if err == nil && !slices.ContainsFunc(d[0], func(v float64) bool { return v != 0 }) {
		return e
	}
	return ad.Add(e, ad.Mul(c, x))
}

func positive(x float64) bool { return x > 0 && x <= math.MaxFloat64 }
func finite(x float64) bool   { return math.Abs(x) <= math.MaxFloat64 }

// fixed says that n is known and all of its numbers satisfy ok.
func fixed(n *ad.Node, ok func(x float64) bool) bool {
	f := source(n).Numbers()
	return len(f) > 0 && !slices.ContainsFunc(f, func(x float64) bool { return !ok(x) })
}

// mapped applies f to known numbers.
func mapped(n *ad.Node, f func(x float64) float64) *ad.Node {
	from := n.Numbers()
	if from == nil { // a sum of constants
		d, err := ad.Numbers(n)
		if err != nil {
			return ad.Fail(err)
		}
		from = d[0]
	}
	out := make([]float64, len(from))
	for i, x := range from {
		out[i] = f(x)
	}
	if len(n.Shape()) == 0 {
		return ad.Scalar(out[0])
	}
	return ad.Const(out, n.Shape()...)
}

// rearranged are the operations that pass the elements of their first input on.
var rearranged = map[string]bool{"reshape": true, "gather": true, "slice": true, "broadcast": true, "permute": true}

// source returns the Node whose elements n rearranges.
func source(n *ad.Node) *ad.Node {
	for n.Op() != nil && rearranged[n.Op().Name] {
		n = n.In()[0]
	}
	return n
}

// insideUnit says that the elements lie between 0 and 1 by the way they are computed, and their logarithm and that of their complement have
// a form that is finite.
func insideUnit(n *ad.Node) bool {
	n = source(n)
	return n.Op() != nil && n.Op().Name == "sigmoid"
}

// openBelow says that the elements are above 0 unless they underflow.
func openBelow(n *ad.Node, depth int) bool {
	n = source(n)
	if f := n.Numbers(); f != nil {
		return fixed(n, positive)
	}
	if n.Op() == nil || depth == 0 {
		return false
	}
	switch n.Op().Name {
	case "exp":
		return true
	case "add", "mul", "div":
		return openBelow(n.In()[0], depth-1) && openBelow(n.In()[1], depth-1)
	}
	return false
}

// bounds returns numbers between which the elements lie, as far as the way they are computed tells.
func bounds(n *ad.Node) (lo, hi float64) { return boundsOf(n, 12) }

func boundsOf(n *ad.Node, depth int) (lo, hi float64) {
	n = source(n)
	if f := n.Numbers(); len(f) > 0 && fixed(n, finite) {
		return slices.Min(f), slices.Max(f)
	}
	lo, hi = -inf, inf
	if n.Op() == nil || depth == 0 {
		return lo, hi
	}
	switch name := n.Op().Name; name {
	case "exp", "softplus", "square", "abs", "sqrt":
		return 0, inf
	case "sigmoid":
		return 0, 1
	case "tanh":
		return -1, 1
	case "add", "sub", "mul":
		a, b := boundsOf(n.In()[0], depth-1)
		c, d := boundsOf(n.In()[1], depth-1)
		switch name {
		case "add":
			return a + c, b + d
		case "sub":
			return a - d, b - c
		}
		p := []float64{times(a, c), times(a, d), times(b, c), times(b, d)}
		return slices.Min(p), slices.Max(p)
	}
	return lo, hi
}

// times is a product of bounds, in which 0 times infinity is 0.
func times(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return a * b
}
