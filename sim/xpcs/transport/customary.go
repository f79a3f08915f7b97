// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// customaryFrames is frames as homodyne and, for two components, heterodyne compute them: sums of trapezoids of rates with floors.
func (s *Setup) customaryFrames(theta []*ad.Node) []*ad.Node {
	if s.Model == TwoComponent {
		above := func(v []*ad.Node) *ad.Node { return ad.Maximum(s.law(v, 0), ad.Scalar(0)) }
		return []*ad.Node{trapezoids(above(theta[0:3])), trapezoids(above(theta[3:6])), trapezoids(s.law(theta[6:9], 0)), softlyClipped(s.fraction(theta[9:13]))}
	}
	floor := func(v []*ad.Node) *ad.Node { return ad.Maximum(s.law(v, max(s.Step/2, 1e-8)), ad.Scalar(1e-10)) }
	all := []*ad.Node{trapezoids(floor(theta[:3]))}
	if s.Model == Laminar {
		all = append(all, trapezoids(floor(theta[3:6])))
	}
	return all
}

// customary is combined as these programs compute it.
func (s *Setup) customary(rise func(v int) *ad.Node, first, second []*ad.Node, direction *ad.Node) *ad.Node {
	if s.Model == TwoComponent {
		decay := func(v int) *ad.Node {
			return ad.Exp(ad.Maximum(ad.Scale(-s.Q*s.Q/2, absolute(ad.Scale(s.Step, rise(v)))), ad.Scalar(-700)))
		}
		return mixed(first[3], second[3], decay(0), decay(1), ad.Mul(ad.Scale(s.Q*s.Step, direction), rise(2)))
	}
	g1 := ad.Exp(ad.Maximum(ad.Scale(-s.Q*s.Q*s.Step/2, absolute(rise(0))), ad.Scalar(-700)))
	if s.Model == Laminar {
		x := ad.Mul(ad.Scale(s.Q*s.Gap*s.Step/(2*math.Pi), direction), absolute(rise(1)))
		g1 = ad.Mul(g1, ad.Square(sinc(x)))
	}
	return ad.Square(ad.Maximum(g1, ad.Scalar(1e-10)))
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
