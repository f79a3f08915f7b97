package transport

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// customary is Pairs as homodyne and, for two components, heterodyne compute it.
func (s *Setup) customary(theta []*ad.Node, p Pairs) []*ad.Node {
	var all []*ad.Node
	if s.Model == TwoComponent {
		decay := func(v []*ad.Node) *ad.Node {
			rise := ad.Scale(s.Step, p.rise(trapezoids(ad.Maximum(s.law(v, 0), ad.Scalar(0)))))
			return ad.Exp(ad.Maximum(ad.Scale(-s.Q*s.Q/2, absolute(rise)), ad.Scalar(-700)))
		}
		reference, sample := decay(theta[0:3]), decay(theta[3:6])
		flow := ad.Scale(s.Step, p.rise(trapezoids(s.law(theta[6:9], 0))))
		fraction := softlyClipped(s.fraction(theta[9:13]))
		for _, angle := range s.Angles {
			phase := ad.Mul(ad.Scale(s.Q, cosine(ad.Shift(theta[13], angle))), flow)
			all = append(all, mixed(p, fraction, reference, sample, phase))
		}
		return all
	}
	earliest := 0.0
	if len(s.Times) > 1 {
		earliest = max(s.Step/2, 1e-8)
	}
	floor := func(v []*ad.Node) *ad.Node { return ad.Maximum(s.law(v, earliest), ad.Scalar(1e-10)) }
	decay := ad.Exp(ad.Maximum(ad.Scale(-s.Q*s.Q*s.Step/2, absolute(p.rise(trapezoids(floor(theta[:3]))))), ad.Scalar(-700)))
	for _, angle := range s.Angles {
		g1 := decay
		if s.Model == Laminar {
			strain := ad.Scale(s.Step, absolute(p.rise(trapezoids(floor(theta[3:6])))))
			x := ad.Mul(ad.Scale(s.Q*s.Gap/(2*math.Pi), cosine(ad.Shift(ad.Neg(theta[6]), angle))), strain)
			g1 = ad.Mul(g1, ad.Square(ad.Sinc(x)))
		}
		all = append(all, ad.Square(ad.Maximum(g1, ad.Scalar(1e-10))))
	}
	return all
}

// law returns rate t^power + offset at each frame; times below half a step are earliest, or, if that is 0, the power of time 0 is 0
// whatever its exponent.
func (s *Setup) law(v []*ad.Node, earliest float64) *ad.Node {
	n := len(s.Times)
	logs, counts := make([]float64, n), make([]float64, n)
	for i, t := range s.Times {
		if t < s.Step/2 {
			t = max(t, earliest)
		}
		if t > 0 {
			logs[i], counts[i] = math.Log(t), 1
		}
	}
	power := ad.Mul(ad.Const(counts), ad.Exp(ad.Mul(v[1], ad.Const(logs))))
	return ad.Add(ad.Mul(v[0], power), v[2])
}

// trapezoids returns the sum of trapezoids of width 1 up to each frame.
func trapezoids(rate *ad.Node) *ad.Node {
	n := rate.Size()
	steps := ad.Scale(0.5, ad.Add(ad.Slice(rate, 0, 0, n-1), ad.Slice(rate, 0, 1, n)))
	return ad.Concat(0, ad.Const([]float64{0}), ad.Cumsum(steps, 0))
}

// absolute is the smooth absolute value of these programs.
func absolute(x *ad.Node) *ad.Node { return ad.Sqrt(ad.Shift(ad.Square(x), 1e-12)) }

// softlyClipped bounds fractions to 0..1 by softplus functions of sharpness 50.
func softlyClipped(f *ad.Node) *ad.Node {
	const sharp = 50
	soft := func(x *ad.Node) *ad.Node { return ad.Scale(1./sharp, ad.Softplus(ad.Scale(sharp, x))) }
	return ad.Sub(ad.Scalar(1), soft(ad.Sub(ad.Scalar(1), soft(f))))
}
