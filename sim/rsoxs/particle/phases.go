// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package particle

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

// A Correlation is the covariance of a random two-phase material, in closed form.
type Correlation interface {
	// Spectrum returns 4 pi int C(r) sin(q r)/(q r) r^2 dr in nm^3 of the covariance C, which is f (1 - f) at r = 0 for a volume
	// fraction f, at q2 = |q|^2.
	Spectrum(fraction, q2 *ad.Node) *ad.Node
}

// Phases is an isotropic material of two phases whose domains are random, given by their statistics: the mean intensity over all samples
// that have them. A pattern of one sample has speckles around it. One material, which fills Fraction of the volume.
type Phases struct {
	Fraction    *ad.Node // volume fraction, from 0 to 1
	Volume      float64  // volume of the sample in nm^3
	Correlation Correlation
}

// Intensities returns the mean intensity for each angle of the field, in the units of [Ensemble.Intensities].
func (p Phases) Intensities(k *ad.Node, d farfield.Directions, contrasts []farfield.Contrast, angles ...float64) []*ad.Node {
	q := At(k, d)
	c := contrasts[0]
	scale := ad.Mul(ad.Square(ad.Square(k)), ad.Add(ad.Square(c.Iso[0]), ad.Square(c.Iso[1])))
	power := ad.Mul(ad.Scale(p.Volume/(16*math.Pi*math.Pi), scale), p.Correlation.Spectrum(p.Fraction, q.dot(q)))
	var out []*ad.Node
	for _, angle := range angles {
		cos, sin := math.Cos(angle), math.Sin(angle)
		along := ad.Add(ad.Scale(cos, d.X), ad.Scale(sin, d.Y))
		out = append(out, ad.Mul(power, ad.Sub(ad.Scalar(1), ad.Square(along))))
	}
	return out
}

func variance(f *ad.Node) *ad.Node { return ad.Mul(f, ad.Sub(ad.Scalar(1), f)) }

// DebyeBueche are domains of all sizes and shapes, with the covariance exp(-r/Length).
//
// Reference: P. Debye and A. M. Bueche, doi:10.1063/1.1698123.
type DebyeBueche struct{ Length *ad.Node } // correlation length in nm

// Spectrum is 8 pi Length^3/(1 + q^2 Length^2)^2 f (1 - f).
func (c DebyeBueche) Spectrum(fraction, q2 *ad.Node) *ad.Node {
	l2 := ad.Square(c.Length)
	return ad.Scale(8*math.Pi, ad.Div(ad.Mul(variance(fraction), ad.Mul(l2, c.Length)), ad.Square(ad.Shift(ad.Mul(q2, l2), 1))))
}

// TeubnerStrey are domains that repeat with a period, with the covariance exp(-r/Length) sin(x)/x, x = 2 pi r/Period.
//
// Reference: M. Teubner and R. Strey, doi:10.1063/1.453006.
type TeubnerStrey struct {
	Period *ad.Node // mean distance between domains in nm
	Length *ad.Node // correlation length in nm
}

// Spectrum is 8 pi/Length over ((1/Length^2 + q^2 + p^2)^2 - 4 q^2 p^2) with p = 2 pi/Period, times f (1 - f).
func (c TeubnerStrey) Spectrum(fraction, q2 *ad.Node) *ad.Node {
	p2 := ad.Square(ad.Scale(2*math.Pi, ad.Reciprocal(c.Period)))
	sum := ad.Add(ad.Reciprocal(ad.Square(c.Length)), ad.Add(q2, p2))
	return ad.Scale(8*math.Pi, ad.Div(ad.Div(variance(fraction), c.Length), ad.Sub(ad.Square(sum), ad.Scale(4, ad.Mul(q2, p2)))))
}

// CutField are the places where a Gaussian random field is above a level, as in spinodal decomposition: the waves of the field have
// lengths around Period, q being normal with the relative standard deviation Width.
//
// Reference: N. F. Berk, doi:10.1103/PhysRevLett.58.2718.
type CutField struct {
	Period *ad.Node // mean distance between domains in nm
	Width  *ad.Node // standard deviation of the spectrum relative to 2 pi/Period, from 0.05 to 0.5
	Reach  Reach    // largest q; Size is the distance in nm beyond which domains are independent, 4 periods/width for 1e-3
}

// Spectrum integrates the covariance of the cut field, which follows from that of the field, g(r), as
//
//	1/(2 pi) int_0^asin(g) exp(-t^2/(1 + sin x)) dx
//
// with t the level in standard deviations.
func (c CutField) Spectrum(fraction, q2 *ad.Node) *ad.Node {
	n := 16 * (1 + int(c.Reach.extent()/20))
	s := c.Reach.newSeries(c.Reach.Size)
	r := panels(n, ad.Scalar(0), ad.Scalar(c.Reach.Size/16), ad.Scalar(c.Reach.Size/4), ad.Scalar(c.Reach.Size))
	g := c.covariance(r.x)
	t2 := ad.Scale(2, ad.Square(ad.Erfinv(ad.Shift(ad.Scale(-2, fraction), 1))))
	// x = 2 atan(g/(1 + sqrt(1 - g^2))), which is asin(g) with derivatives at g = 1 that end where a node never is.
	end := ad.Asin(g)
	x, w := legendre(16)
	var total *ad.Node
	for i := range x {
		total = added(total, w[i], ad.Exp(ad.Neg(ad.Div(t2, ad.Shift(ad.Sin(ad.Scale(x[i], end)), 1)))))
	}
	cut := ad.Scale(1/(2*math.Pi), ad.Mul(end, total))
	kernel := ad.Sinc(ad.Mul(ad.Reshape(s.q(), len(s.nodes), 1), r.x))
	return s.at(q2, ad.MatMul(kernel, ad.Scale(4*math.Pi, ad.Mul(ad.Mul(r.w, ad.Square(r.x)), cut))))[0]
}

// covariance returns that of the field at distances r, 1 at 0.
func (c CutField) covariance(r *ad.Node) *ad.Node {
	n := 24 + int(min(c.Reach.Size, mostReach))
	t, w := legendre(min(n, 400))
	q0 := ad.Scale(2*math.Pi, ad.Reciprocal(c.Period))
	low := ad.Maximum(ad.Shift(ad.Scale(-6, c.Width), 1), ad.Scalar(0))
	x := ad.Add(low, ad.Mul(ad.Sub(ad.Shift(ad.Scale(6, c.Width), 1), low), ad.Const(t)))
	weight := ad.Mul(ad.Const(w), ad.Mul(ad.Square(x), ad.Exp(ad.Scale(-0.5, ad.Square(ad.Div(ad.Shift(x, -1), c.Width))))))
	kernel := ad.Sinc(ad.Mul(ad.Reshape(r, r.Size(), 1), ad.Mul(q0, x)))
	return ad.Div(ad.MatMul(kernel, weight), ad.Sum(weight))
}
