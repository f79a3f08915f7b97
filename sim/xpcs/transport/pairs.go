// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Pairs lists pairs of frames, the first before the second unless they are a Square, as elements of
// a vector over the frames.
type Pairs struct {
	first, second func(v *ad.Node) *ad.Node
	anyOrder      bool // whether the second frame may be before the first
}

// AllPairs returns all pairs i < j of n frames as a vector, row by row.
func AllPairs(n int) Pairs {
	var a, b []int
	for i := range n {
		for j := i + 1; j < n; j++ {
			a, b = append(a, i), append(b, j)
		}
	}
	return Listed(a, b, len(a))
}

// Listed returns the given pairs of frames, the first before the second, as an array of a shape.
func Listed(first, second []int, shape ...int) Pairs {
	a, b := ad.Ints(first), ad.Ints(second)
	of := func(index *ad.Node) func(v *ad.Node) *ad.Node {
		return func(v *ad.Node) *ad.Node { return ad.Reshape(ad.Gather(v, index, 0), shape...) }
	}
	return Pairs{first: of(a), second: of(b)}
}

// Rectangle returns the pairs of frames from..to-1, as rows, with frames begin..end-1, as columns.
func Rectangle(from, to, begin, end int) Pairs {
	return Pairs{first: func(v *ad.Node) *ad.Node { return ad.Reshape(ad.Slice(v, 0, from, to), to-from, 1) }, second: func(v *ad.Node) *ad.Node { return ad.Slice(v, 0, begin, end) }}
}

// Square returns all pairs of n frames in both orders, and each frame with itself, as a symmetric
// matrix.
func Square(n int) Pairs {
	p := Rectangle(0, n, 0, n)
	p.anyOrder = true
	return p
}

// rise returns how much an integral grows from the first frame of each pair to the second.
func (p Pairs) rise(first, second *ad.Node) *ad.Node {
	d := ad.Sub(second, first)
	if p.anyOrder {
		return ad.Abs(d)
	}
	return d
}

// Pairs returns g of the pairs for each angle, with parameters theta in the order of Names.
// Gradient: exact, of any order. Where Domain finds a fault the numbers are meaningless.
func (s *Setup) Pairs(theta []*ad.Node, p Pairs) []*ad.Node {
	err := s.Check()
	if err == nil && len(theta) != len(names[s.Model]) {
		err = fmt.Errorf("transport: there are %d parameters for the model %s: want %d", len(theta), s.Model, len(names[s.Model]))
	}
	if err != nil {
		return []*ad.Node{ad.Fail(err)}
	}
	frames := s.frames(theta)
	first, second := p.both(frames)
	var all []*ad.Node
	for _, angle := range s.Angles {
		rise := func(v int) *ad.Node { return p.rise(first[v], second[v]) }
		all = append(all, s.combined(rise, first, second, s.direction(theta, angle)))
	}
	return all
}

// both returns quantities of the frames at the first and at the second frame of each pair.
func (p Pairs) both(frames []*ad.Node) (first, second []*ad.Node) {
	for _, v := range frames {
		first, second = append(first, p.first(v)), append(second, p.second(v))
	}
	return first, second
}

// frames returns what a model needs of each frame: integrals of rates and, for two components, the fraction of the sample.
func (s *Setup) frames(theta []*ad.Node) []*ad.Node {
	if s.Customary {
		return s.customaryFrames(theta)
	}
	all := []*ad.Node{s.integral(theta[:3])}
	switch s.Model {
	case Laminar:
		all = append(all, s.integral(theta[3:6]))
	case TwoComponent:
		all = append(all, s.integral(theta[3:6]), s.integral(theta[6:9]), s.fraction(theta[9:13]))
	}
	return all
}

// direction returns the cosine between an angle and the motion; nil for a model without one.
func (s *Setup) direction(theta []*ad.Node, angle float64) *ad.Node {
	switch s.Model {
	case Laminar:
		return cosine(ad.Shift(ad.Neg(theta[6]), angle))
	case TwoComponent:
		return cosine(ad.Shift(theta[13], angle))
	}
	return nil
}

// combined returns g from the quantities of both frames and from how much integrals grow between them.
func (s *Setup) combined(rise func(v int) *ad.Node, first, second []*ad.Node, direction *ad.Node) *ad.Node {
	if s.Customary {
		return s.customary(rise, first, second, direction)
	}
	q2 := s.Q * s.Q
	switch s.Model {
	case TwoComponent:
		decay := func(v int) *ad.Node { return ad.Exp(ad.Scale(-q2/2, rise(v))) }
		phase := ad.Mul(ad.Scale(s.Q, direction), rise(2))
		return mixed(first[3], second[3], decay(0), decay(1), phase)
	case Laminar:
		x := ad.Mul(ad.Scale(s.Q*s.Gap/2, direction), rise(1))
		return ad.Mul(ad.Exp(ad.Scale(-q2, rise(0))), ad.Square(sinc(x)))
	}
	return ad.Exp(ad.Scale(-q2, rise(0)))
}

// sinc is sin(x)/x as a graph of operations that have vector kernels, as their derivatives do.
func sinc(x *ad.Node) *ad.Node {
	q := ad.Square(x)
	isNear := ad.Less(q, ad.Scalar(0.25)) // the series is as good there
	series := ad.Scalar(1)
	for k := 6.0; k >= 1; k-- { // 1 - x^2/6 (1 - x^2/20 (1 - ...))
		series = ad.Sub(ad.Scalar(1), ad.Mul(ad.Scale(1/(2*k*(2*k+1)), q), series))
	}
	far := ad.Where(isNear, ad.Scalar(1), x)
	return ad.Where(isNear, series, ad.Div(ad.Sin(far), far))
}

// cosine is the cosine of an angle in degrees.
func cosine(degrees *ad.Node) *ad.Node { return ad.Cos(ad.Scale(math.Pi/180, degrees)) }

// mixed returns |r r h_r + f f h_s e^(i x)|^2 / ((f^2 + r^2)(f^2 + r^2)) of pairs, with r = 1-f.
func mixed(first, second, reference, sample, phase *ad.Node) *ad.Node {
	rest := func(f *ad.Node) *ad.Node { return ad.Sub(ad.Scalar(1), f) }
	norm := func(f *ad.Node) *ad.Node { return ad.Add(ad.Square(f), ad.Square(rest(f))) }
	a, b := ad.Mul(ad.Mul(rest(first), rest(second)), reference), ad.Mul(ad.Mul(first, second), sample)
	return ad.Div(ad.AddN(ad.Square(a), ad.Square(b), ad.Scale(2, ad.Mul(ad.Mul(a, b), ad.Cos(phase)))), ad.Mul(norm(first), norm(second)))
}

// integral returns the integral of rate t^power + offset from the first frame to each.
func (s *Setup) integral(theta []*ad.Node) *ad.Node {
	rate, power, offset := theta[0], theta[1], theta[2]
	n, first := len(s.Times), s.Times[0]
	above := ad.Shift(power, 1)
	since := make([]float64, n)
	logs := make([]float64, n) // log(t/t0), or of t if t0 = 0
	for i, t := range s.Times {
		since[i] = t - first
		switch {
		case first > 0:
			logs[i] = math.Log1p((t - first) / first)
		case t > 0:
			logs[i] = math.Log(t)
		}
	}
	var grown *ad.Node
	if first > 0 { // t0^(a+1) y (e^((a+1) y) - 1)/((a+1) y), also where a = -1
		y := ad.Const(logs)
		grown = ad.Mul(ad.Exp(ad.Scale(math.Log(first), above)), ad.Mul(y, ad.ExpRemainder(1, ad.Mul(above, y))))
	} else {
		later := make([]float64, n) // 0 at time 0, where the power is
		for i, t := range s.Times {
			if t > 0 {
				later[i] = 1
			}
		}
		grown = ad.Mul(ad.Const(later), ad.Div(ad.Exp(ad.Mul(above, ad.Const(logs))), above))
	}
	return ad.Add(ad.Mul(rate, grown), ad.Mul(offset, ad.Const(since)))
}

// fraction returns f0 exp(f1 (t - f2)) + f3 at each frame.
func (s *Setup) fraction(f []*ad.Node) *ad.Node {
	return ad.Add(ad.Mul(f[0], ad.Exp(ad.Mul(f[1], ad.Sub(ad.Const(s.Times), f[2])))), f[3])
}
