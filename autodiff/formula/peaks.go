// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Peaks have the area amplitude, unless their comment says otherwise, the place center, and the width sigma, as in lmfit. u is (x - center)/sigma.

func scaled(in []*ad.Node) (u, amplitude, sigma *ad.Node) {
	return ad.Div(ad.Sub(in[0], in[2]), in[3]), in[1], in[3]
}

// gaussian is amplitude/(sigma sqrt(2 pi)) exp(-u^2/2).
func gaussian(in []*ad.Node) *ad.Node {
	u, a, s := scaled(in)
	return ad.Mul(ad.Scale(1/math.Sqrt(2*math.Pi), ad.Div(a, s)), ad.Exp(ad.Scale(-0.5, ad.Square(u))))
}

// lorentzian is amplitude/(pi sigma) / (1 + u^2).
func lorentzian(in []*ad.Node) *ad.Node {
	u, a, s := scaled(in)
	return ad.Div(ad.Scale(1/math.Pi, ad.Div(a, s)), ad.Shift(ad.Square(u), 1))
}

// voigt is a gaussian of width sigma convolved with a lorentzian of width gamma: amplitude Re w((x - center + i gamma)/(sigma sqrt 2))/(sigma sqrt(2 pi)).
//
// Where |x - center + i gamma| is more than 100 sigma, it is voigtFar, since there the derivative of w is the difference of numbers that hardly differ.
func voigt(in []*ad.Node) *ad.Node {
	x, a, s, gamma, one := ad.Sub(in[0], in[2]), in[1], in[3], in[4], ad.Scalar(1)
	distance := ad.Add(ad.Square(x), ad.Square(gamma))
	far := ad.Mul(ad.Greater(distance, ad.Scale(1e4, ad.Square(s))), ad.GreaterEqual(gamma, ad.Scalar(0)))
	width := ad.Where(far, one, s) // that of the values that are used
	near := ad.Mul(ad.Scale(1/math.Sqrt(2*math.Pi), ad.Div(a, width)),
		ad.FaddeevaRe(ad.Scale(math.Sqrt2/2, ad.Div(x, width)), ad.Scale(math.Sqrt2/2, ad.Div(gamma, width))))
	return ad.Where(far, voigtFar(x, a, s, gamma, ad.Where(far, distance, one)), near)
}

// voigtFar is the asymptotic series of voigt, a/pi Im(z + s^2 z^3 + 3 s^4 z^5 + 15 s^6 z^7) with z = 1/(x - i gamma) and 1/|z|^2 = distance: the lorentzian and what the
// width of the gaussian adds to it. The terms that are left out are 105 (s |z|)^8 of it.
func voigtFar(x, a, s, gamma, distance *ad.Node) *ad.Node {
	share := ad.Div(ad.Square(s), ad.Square(distance)) // s^2 z^2 is this times (x + i gamma)^2
	re := ad.Mul(share, ad.Sub(ad.Square(x), ad.Square(gamma)))
	im := ad.Mul(share, ad.Scale(2, ad.Mul(x, gamma)))
	sum, turned := ad.Scalar(15), ad.Scalar(0)
	for _, c := range []float64{3, 1, 1} {
		sum, turned = ad.Shift(ad.Sub(ad.Mul(sum, re), ad.Mul(turned, im)), c), ad.Add(ad.Mul(sum, im), ad.Mul(turned, re))
	}
	return ad.Mul(ad.Scale(1/math.Pi, ad.Div(a, distance)), ad.Add(ad.Mul(gamma, sum), ad.Mul(x, turned)))
}

// pseudoVoigt is (1 - fraction) gaussian + fraction lorentzian, with a common full width 2 sigma at half maximum.
func pseudoVoigt(in []*ad.Node) *ad.Node {
	g := gaussian([]*ad.Node{in[0], in[1], in[2], ad.Scale(1/math.Sqrt(2*math.Ln2), in[3])})
	return ad.Add(ad.Mul(ad.Shift(ad.Neg(in[4]), 1), g), ad.Mul(in[4], lorentzian(in[:4])))
}

// doniach is the line of Doniach and Sunjic, amplitude/sigma^(1-gamma) cos(pi gamma/2 + (1-gamma) atan(u)) / (1 + u^2)^((1-gamma)/2), whose area is infinite.
func doniach(in []*ad.Node) *ad.Node {
	u, a, s := scaled(in)
	g := ad.Shift(ad.Neg(in[4]), 1)
	wave := ad.Cos(ad.Add(ad.Scale(math.Pi/2, in[4]), ad.Mul(g, ad.Atan(u))))
	return ad.Mul(ad.Div(a, ad.Pow(s, g)), ad.Div(wave, ad.Pow(ad.Shift(ad.Square(u), 1), ad.Scale(0.5, g))))
}

// skewedGaussian is gaussian (1 + erf(gamma u/sqrt 2)).
func skewedGaussian(in []*ad.Node) *ad.Node {
	u, _, _ := scaled(in)
	return ad.Mul(gaussian(in), ad.Shift(ad.Erf(ad.Scale(math.Sqrt2/2, ad.Mul(in[4], u))), 1))
}

// exponentialGaussian is a gaussian convolved with an exponential of rate gamma that falls to the right: amplitude gamma exp(gamma (center - x) + (gamma sigma)^2/2) Phi(u - gamma sigma).
func exponentialGaussian(in []*ad.Node) *ad.Node {
	u, a, s := scaled(in)
	rate := ad.Mul(in[4], s)
	e := ad.Add(ad.Sub(ad.Scale(0.5, ad.Square(rate)), ad.Mul(rate, u)), ad.LogPhi(ad.Sub(u, rate)))
	return ad.Mul(ad.Mul(a, in[4]), ad.Exp(e))
}

// moffat is amplitude (1 + u^2)^-beta, of which amplitude is the height.
func moffat(in []*ad.Node) *ad.Node {
	u, a, _ := scaled(in)
	return ad.Mul(a, ad.Pow(ad.Shift(ad.Square(u), 1), ad.Neg(in[4])))
}

// dampedOscillator is amplitude/sqrt((1 - (x/center)^2)^2 + (2 sigma x/center)^2), a resonance whose amplitude is that at 0.
func dampedOscillator(in []*ad.Node) *ad.Node {
	t := ad.Div(in[0], in[2])
	return ad.Div(in[1], ad.Sqrt(ad.Add(ad.Square(ad.Shift(ad.Neg(ad.Square(t)), 1)), ad.Square(ad.Scale(2, ad.Mul(in[3], t))))))
}

// fano is amplitude (q sigma/2 + x - center)^2 / ((sigma/2)^2 + (x - center)^2), also called Breit-Wigner.
func fano(in []*ad.Node) *ad.Node {
	half, d := ad.Scale(0.5, in[3]), ad.Sub(in[0], in[2])
	return ad.Mul(in[1], ad.Div(ad.Square(ad.Add(ad.Mul(in[4], half), d)), ad.Add(ad.Square(half), ad.Square(d))))
}

// polynomial is c0 + c1 x + ... + cn x^n.
func polynomial(in []*ad.Node) *ad.Node {
	y := in[len(in)-1]
	for k := len(in) - 2; k > 0; k-- {
		y = ad.Add(in[k], ad.Mul(in[0], y))
	}
	return ad.Add(y, ad.Scale(0, in[0]))
}

func init() {
	peak := []string{"amplitude", "center", "sigma"}
	with := func(more ...string) []string { return append([]string{"amplitude", "center", "sigma"}, more...) }
	wide := func(name, fwhm string, params []string) map[string]string {
		all := ""
		for _, p := range params {
			all += ", {}" + p
		}
		return map[string]string{"fwhm": fwhm, "height": name + "({}center" + all + ")"}
	}
	for _, c := range []Component{
		{Name: "gaussian", Params: peak, Node: gaussian, Kind: Peak, Derived: wide("gaussian", "2*sqrt(2*log(2))*{}sigma", peak)},
		{Name: "lorentzian", Params: peak, Node: lorentzian, Kind: Peak, Derived: wide("lorentzian", "2*{}sigma", peak)},
		{Name: "voigt", Params: with("gamma"), Positive: []string{"gamma"}, Node: voigt, Kind: Peak,
			Derived: wide("voigt", "1.0692*{}gamma + sqrt(0.8664*{}gamma^2 + 8*log(2)*{}sigma^2)", with("gamma"))}, // to 2e-4: Olivero & Longbothum 1977
		{Name: "pseudo_voigt", Params: with("fraction"), Node: pseudoVoigt, Kind: Peak, Derived: wide("pseudo_voigt", "2*{}sigma", with("fraction"))},
		{Name: "doniach", Params: with("gamma"), Node: doniach, Kind: Peak, Derived: map[string]string{"height": "doniach({}center, {}amplitude, {}center, {}sigma, {}gamma)"}},
		{Name: "skewed_gaussian", Params: with("gamma"), Node: skewedGaussian, Kind: Peak},
		{Name: "exponential_gaussian", Params: with("gamma"), Positive: []string{"gamma"}, Node: exponentialGaussian, Kind: Peak},
		{Name: "moffat", Params: with("beta"), Positive: []string{"beta"}, Node: moffat, Kind: Peak, Derived: map[string]string{"fwhm": "2*{}sigma*sqrt(2^(1/{}beta) - 1)"}},
		{Name: "fano", Params: with("q"), Node: fano, Kind: Peak},
		{Name: "damped_oscillator", Params: peak, Node: dampedOscillator, Kind: Peak},
		{Name: "step", Params: peak, Kind: StepKind, Node: func(in []*ad.Node) *ad.Node { // amplitude (1 + erf(u))/2
			u, a, _ := scaled(in)
			return ad.Mul(a, ad.Scale(0.5, ad.Erfc(ad.Neg(u))))
		}},
		{Name: "logistic_step", Params: peak, Kind: StepKind, Node: func(in []*ad.Node) *ad.Node { // amplitude/(1 + exp(-u))
			u, a, _ := scaled(in)
			return ad.Mul(a, ad.Sigmoid(u))
		}},
		{Name: "atan_step", Params: peak, Kind: StepKind, Node: func(in []*ad.Node) *ad.Node { // amplitude (1/2 + atan(u)/pi)
			u, a, _ := scaled(in)
			return ad.Mul(a, ad.Shift(ad.Scale(1/math.Pi, ad.Atan(u)), 0.5))
		}},
		{Name: "exponential", Params: []string{"amplitude", "decay"}, Kind: DecayKind, Derived: map[string]string{"half": "log(2)*{}decay"}, Node: func(in []*ad.Node) *ad.Node {
			return ad.Mul(in[1], ad.Exp(ad.Neg(ad.Div(in[0], in[2]))))
		}},
		{Name: "power_law", Params: []string{"amplitude", "exponent"}, Node: func(in []*ad.Node) *ad.Node { return ad.Mul(in[1], ad.Pow(in[0], in[2])) }},
		{Name: "debye", Params: []string{"amplitude", "tau"}, Positive: []string{"tau"}, Node: func(in []*ad.Node) *ad.Node { // loss amplitude x tau/(1 + (x tau)^2)
			t := ad.Mul(in[0], in[2])
			return ad.Div(ad.Mul(in[1], t), ad.Shift(ad.Square(t), 1))
		}},
		{Name: "damped_wave", Params: []string{"amplitude", "decay", "frequency", "phase"}, Node: func(in []*ad.Node) *ad.Node { // amplitude exp(-x/decay) cos(2 pi frequency x + phase)
			return ad.Mul(ad.Mul(in[1], ad.Exp(ad.Neg(ad.Div(in[0], in[2])))), ad.Cos(ad.Add(ad.Scale(2*math.Pi, ad.Mul(in[3], in[0])), in[4])))
		}},
		{Name: "constant", Params: []string{"c"}, Node: func(in []*ad.Node) *ad.Node { return ad.Add(in[1], ad.Scale(0, in[0])) }},
		{Name: "linear", Params: []string{"intercept", "slope"}, Node: polynomial},
		{Name: "quadratic", Params: []string{"c0", "c1", "c2"}, Node: polynomial},
	} {
		if c.Kind == Peak || c.Kind == StepKind {
			c.Positive = append(c.Positive, "sigma")
		}
		RegisterComponent(c)
	}
	for degree := 3; degree <= 9; degree++ {
		var names []string
		for k := range degree + 1 {
			names = append(names, fmt.Sprintf("c%d", k))
		}
		RegisterComponent(Component{Name: fmt.Sprintf("polynomial%d", degree), Params: names, Node: polynomial})
	}
	for knots := 3; knots <= 12; knots++ {
		var names []string
		for k := range knots {
			names = append(names, fmt.Sprintf("k%d", k+1))
		}
		RegisterComponent(Component{Name: fmt.Sprintf("spline%d", knots), Params: names, Before: 3, Node: spline})
	}
}
