// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// invPhi is the quantile of the standard normal distribution, with one Newton step on the logarithm of the tail, which makes small
// probabilities exact.
func invPhi(p *ad.Node) *ad.Node {
	lower := ad.Less(p, ad.Scalar(0.5))
	tail := ad.Where(lower, p, ad.Sub(ad.Scalar(1), p))
	x := logQuantile(ad.Log(tail))
	return ad.Where(lower, x, ad.Neg(x))
}

// logQuantile is the quantile of the standard normal distribution of a probability whose logarithm is given. It starts from an
// approximation, which the Newton steps on log Phi make exact; the last one carries the derivative.
func logQuantile(lp *ad.Node) *ad.Node {
	up := ad.Greater(lp, ad.Scalar(-math.Ln2))
	small := ad.Where(up, ad.Log1mExp(ad.Where(up, lp, ad.Scalar(-math.Ln2))), lp) // logarithm of the smaller tail
	r := ad.Sqrt(ad.Scale(-2, small))
	// Abramowitz and Stegun 26.2.23
	num := ad.Shift(ad.Mul(r, ad.Shift(ad.Scale(0.010328, r), 0.802853)), 2.515517)
	den := ad.Shift(ad.Mul(r, ad.Shift(ad.Mul(r, ad.Shift(ad.Scale(0.001308, r), 0.189269)), 1.432788)), 1)
	x := ad.StopGradient(ad.Sub(ad.Div(num, den), r))
	fixed := ad.StopGradient(small)
	for range 4 {
		x = ad.Add(x, ad.Mul(ad.Sub(fixed, ad.LogPhi(x)), hazard(x)))
	}
	x = ad.StopGradient(x)
	x = ad.Add(x, ad.Mul(ad.Sub(small, ad.LogPhi(x)), hazard(x)))
	return ad.Where(up, ad.Neg(x), x)
}

// hazard is Phi/phi of the standard normal distribution.
func hazard(x *ad.Node) *ad.Node {
	return ad.Exp(ad.Add(ad.LogPhi(x), ad.Shift(ad.Scale(0.5, ad.Square(x)), 0.5*math.Log(2*math.Pi))))
}

// lambertW0 is the upper branch of the solution w of w exp(w) = x.
func lambertW0(x *ad.Node) *ad.Node {
	fixed := ad.StopGradient(x)
	// near -1/e by the square root, for large x by logarithms
	p := ad.Sqrt(ad.Maximum(ad.Shift(ad.Scale(2*math.E, fixed), 2), ad.Scalar(0)))
	near := ad.Sub(ad.Shift(p, -1), ad.Scale(1.0/3, ad.Square(p)))
	l := ad.Log1p(ad.Maximum(fixed, ad.Scalar(0)))
	far := ad.Mul(l, ad.Sub(ad.Scalar(1), ad.Div(ad.Log1p(l), ad.Shift(l, 2))))
	w := ad.Where(ad.Less(fixed, ad.Scalar(0)), near, far)
	return lambertSteps(w, fixed, x)
}

// lambertWm1 is the lower branch, for x from -1/e to 0.
func lambertWm1(x *ad.Node) *ad.Node {
	fixed := ad.StopGradient(x)
	p := ad.Neg(ad.Sqrt(ad.Maximum(ad.Shift(ad.Scale(2*math.E, fixed), 2), ad.Scalar(0))))
	near := ad.Sub(ad.Shift(p, -1), ad.Scale(1.0/3, ad.Square(p)))
	l1 := ad.Log(ad.Neg(fixed))
	l2 := ad.Log(ad.Neg(ad.Minimum(l1, ad.Scalar(-1.1))))
	far := ad.Add(ad.Sub(l1, l2), ad.Div(l2, l1))
	w := ad.Where(ad.Less(fixed, ad.Scalar(-0.25)), near, far)
	return lambertSteps(w, fixed, x)
}

// lambertSteps makes an approximation exact by Halley's steps, and ends with a step of Newton's that carries the derivative.
func lambertSteps(w, fixed, x *ad.Node) *ad.Node {
	for range 5 {
		e := ad.Exp(w)
		f := ad.Sub(ad.Mul(w, e), fixed)
		w1 := ad.Shift(w, 1)
		d := ad.Sub(ad.Mul(e, w1), ad.Div(ad.Mul(ad.Shift(w, 2), f), ad.Scale(2, w1)))
		w = ad.Sub(w, ad.Where(ad.Equal(f, ad.Scalar(0)), ad.Scalar(0), ad.Div(f, d)))
	}
	w = ad.StopGradient(w)
	slope := ad.Mul(ad.Exp(w), ad.Shift(w, 1))
	return ad.Sub(w, ad.Div(ad.Sub(ad.Mul(w, ad.Exp(w)), x), slope))
}

// nodes and weights of Gauss-Legendre quadrature on [-1, 1].
func legendre(n int) (x, w []float64) {
	x, w = make([]float64, n), make([]float64, n)
	for i := range n {
		z := math.Cos(math.Pi * (float64(i) + 0.75) / (float64(n) + 0.5))
		var dp float64
		for range 100 {
			p, q := 1.0, 0.0
			for k := range n {
				p, q = (float64(2*k+1)*z*p-float64(k)*q)/float64(k+1), p
			}
			dp = float64(n) * (z*p - q) / (z*z - 1)
			dz := p / dp
			z -= dz
			if math.Abs(dz) < 1e-16 {
				break
			}
		}
		x[i], w[i] = z, 2/((1-z*z)*dp*dp)
	}
	return x, w
}

// owensT is Owen's function T(h, a), the integral of exp(-h^2 (1 + x^2)/2)/(1 + x^2) over x from 0 to a, divided by 2 pi.
func owensT(h, a *ad.Node) *ad.Node {
	// for |a| > 1: T(h, a) = (Phi(h) + Phi(ah))/2 - Phi(h) Phi(ah) - T(ah, 1/a), and half of it for a of the other sign
	one := ad.Scalar(1)
	sign := ad.Sign(a)
	b := ad.Abs(a)
	large := ad.Greater(b, one)
	safe := ad.Where(large, b, one)
	hh := ad.Abs(h)
	ah := ad.Mul(hh, b)
	inner := owensIntegral(ad.Where(large, ah, hh), ad.Where(large, ad.Reciprocal(safe), b))
	// with complements, for precision: T(h,a) = 1/4 erfc-like terms
	q := func(x *ad.Node) *ad.Node { return ad.Phi(ad.Neg(x)) }
	far := ad.Sub(ad.Sub(ad.Scale(0.5, ad.Add(q(hh), q(ah))), ad.Mul(q(hh), q(ah))), inner)
	return ad.Mul(sign, ad.Where(large, far, inner))
}

func owensIntegral(h, a *ad.Node) *ad.Node {
	x, w := legendre(40)
	var terms []*ad.Node
	for i := range x {
		t := ad.Scale(0.5*(x[i]+1), a)
		u := ad.Shift(ad.Square(t), 1)
		terms = append(terms, ad.Scale(0.5*w[i]/(2*math.Pi), ad.Div(ad.Exp(ad.Scale(-0.5, ad.Mul(ad.Square(h), u))), u)))
	}
	return ad.Mul(a, ad.AddN(terms...))
}

// order returns the known order of a Bessel function.
func order(n *ad.Node) (int, bool) {
	d, err := ad.Numbers(n)
	if err != nil || n.Size() != 1 {
		return 0, false
	}
	return int(d[0][0]), true
}

// bessel integrates over an angle with the trapezoidal rule, which converges exponentially for periodic functions.
func trapezoid(n int, f func(t float64) *ad.Node) *ad.Node {
	var terms []*ad.Node
	for i := range n {
		terms = append(terms, f(math.Pi*(float64(i)+0.5)/float64(n)))
	}
	return ad.Scale(1/float64(n), ad.AddN(terms...))
}

// besselJ is J_nu(x) of whole order, by Bessel's integral (DLMF 10.9.2).
func besselJ(nu, x *ad.Node) *ad.Node {
	n, ok := order(nu)
	if !ok {
		return ad.Fail(errOrder)
	}
	switch n {
	case 0:
		return ad.BesselJ0(x)
	case 1:
		return ad.BesselJ1(x)
	}
	return trapezoid(64+2*abs(n), func(t float64) *ad.Node {
		return ad.Cos(ad.Sub(ad.Scale(math.Sin(t), x), ad.Scalar(float64(n)*t)))
	})
}

// besselI is I_nu(x) of whole order (DLMF 10.32.3).
func besselI(nu, x *ad.Node) *ad.Node {
	n, ok := order(nu)
	if !ok {
		return ad.Fail(errOrder)
	}
	return trapezoid(64+2*abs(n), func(t float64) *ad.Node {
		return ad.Scale(math.Cos(float64(n)*t), ad.Exp(ad.Scale(math.Cos(t), x)))
	})
}

// besselK is K_nu(x), the integral of exp(-x cosh t) cosh(nu t) over t from 0 (DLMF 10.32.9), by the trapezoidal rule.
func besselK(nu, x *ad.Node) *ad.Node {
	n, ok := order(nu)
	if !ok {
		return ad.Fail(errOrder)
	}
	const step, steps = 0.04, 300
	var terms []*ad.Node
	for i := range steps {
		t := step * float64(i)
		w := step
		if i == 0 {
			w /= 2
		}
		// exp(-x cosh t + nu t) without overflow
		e := ad.Add(ad.Exp(ad.Shift(ad.Scale(-math.Cosh(t), x), float64(n)*t)), ad.Exp(ad.Shift(ad.Scale(-math.Cosh(t), x), -float64(n)*t)))
		terms = append(terms, ad.Scale(w/2, e))
	}
	return ad.AddN(terms...)
}

// besselY is Y_nu(x) of whole order (DLMF 10.9.7).
func besselY(nu, x *ad.Node) *ad.Node {
	n, ok := order(nu)
	if !ok {
		return ad.Fail(errOrder)
	}
	// the first integral is not over a period: Gauss-Legendre in its place
	gx, gw := legendre(60)
	var first []*ad.Node
	for i := range gx {
		t := math.Pi * 0.5 * (gx[i] + 1)
		first = append(first, ad.Scale(0.5*gw[i], ad.Sin(ad.Sub(ad.Scale(math.Sin(t), x), ad.Scalar(float64(n)*t)))))
	}
	sign := 1.0
	if n%2 != 0 {
		sign = -1
	}
	// the second, in panels up to where exp(-x sinh t) has died away for all x above 10^-4
	const width, panels = 0.5, 26
	px, pw := legendre(16)
	var second []*ad.Node
	for k := range panels {
		for i := range px {
			t := width * (float64(k) + 0.5*(px[i]+1))
			fall := ad.Scale(-math.Sinh(t), x)
			up, down := ad.Exp(ad.Shift(fall, float64(n)*t)), ad.Exp(ad.Shift(fall, -float64(n)*t))
			second = append(second, ad.Scale(width/2*pw[i]/math.Pi, ad.Add(up, ad.Scale(sign, down))))
		}
	}
	return ad.Sub(ad.AddN(first...), ad.AddN(second...))
}

// logBesselI is log I_nu(x).
func logBesselI(nu, x *ad.Node) *ad.Node {
	w := ad.Sqrt(ad.Add(ad.Square(nu), ad.Square(x)))
	eta := ad.Add(w, ad.Mul(nu, ad.Log(ad.Div(x, ad.Add(nu, w)))))
	return ad.Add(ad.LogBesselIScaled(nu, x), eta)
}

// lmgamma is the logarithm of the multivariate gamma function.
func lmgamma(k, x *ad.Node) *ad.Node {
	n, ok := order(k)
	if !ok {
		return ad.Fail(errOrder)
	}
	terms := []*ad.Node{ad.Scalar(float64(n*(n-1)) / 4 * math.Log(math.Pi))}
	for j := range n {
		terms = append(terms, ad.Lgamma(ad.Shift(x, -float64(j)/2)))
	}
	return ad.AddN(terms...)
}

func abs(n int) int { return max(n, -n) }
