// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// OfAngles returns g of pairs (angles, m) for all angles at once, with parameters theta in the
// order of Names. Gradient: exact, of any order.
func (s *Setup) OfAngles(theta []*ad.Node, p Pairs) *ad.Node {
	if err := s.Check(); err != nil {
		return ad.Fail(err)
	}
	if len(theta) != len(names[s.Model]) {
		return ad.Fail(fmt.Errorf("transport: there are %d parameters for the model %s: want %d", len(theta), s.Model, len(names[s.Model])))
	}
	first, second := p.both(s.frames(theta))
	var direction *ad.Node
	if s.direction(theta, 0) != nil {
		var all []*ad.Node
		for _, angle := range s.Angles {
			all = append(all, s.direction(theta, angle))
		}
		direction = ad.Reshape(ad.Stack(0, all...), len(all), 1)
	}
	rise := func(v int) *ad.Node { return p.rise(first[v], second[v]) }
	return s.combined(rise, first, second, direction)
}

// Part is one of the independent parts whose sum is the field of a speckle: a stationary Gaussian
// field of unit variance with a real correlation (frames, frames), times an amplitude and a phase
// in each frame (nil: 1 and 0).
type Part struct{ Correlation, Amplitude, Phase *ad.Node }

// Fields returns the parts of the field at an angle: g is the squared modulus of the correlation of their sum, whose variance is 1 in every
// frame.
func (s *Setup) Fields(theta []*ad.Node, angle float64) []Part {
	p := Square(len(s.Times))
	if s.Model == TwoComponent {
		frames := s.frames(theta)
		first, second := p.both(frames)
		q2, velocity := s.Q*s.Q, s.Q
		if s.Customary {
			q2, velocity = q2*s.Step, velocity*s.Step
		}
		decay := func(v int) *ad.Node { return ad.Exp(ad.Scale(-q2/2, p.rise(first[v], second[v]))) }
		sample := frames[3]
		rest := ad.Sub(ad.Scalar(1), sample)
		norm := ad.Sqrt(ad.Add(ad.Square(sample), ad.Square(rest)))
		phase := ad.Mul(ad.Scale(velocity, s.direction(theta, angle)), frames[2])
		return []Part{{decay(0), ad.Div(rest, norm), nil}, {decay(1), ad.Div(sample, norm), phase}}
	}
	one := *s
	one.Angles = []float64{angle}
	if s.Customary || s.Model == Static {
		return []Part{{Correlation: ad.Sqrt(one.Pairs(theta, p)[0])}}
	}
	first, second := p.both(s.frames(theta))
	x := ad.Mul(ad.Scale(s.Q*s.Gap/2, s.direction(theta, angle)), p.rise(first[1], second[1]))
	return []Part{{Correlation: ad.Mul(ad.Exp(ad.Scale(-s.Q*s.Q/2, p.rise(first[0], second[0]))), sinc(x))}}
}

// LogMean returns the mean of the logarithm of the frames' times above 0, in log s.
func (s *Setup) LogMean() float64 {
	sum, count := 0.0, 0
	for _, t := range s.Times {
		if t > 0 {
			sum, count = sum+math.Log(t), count+1
		}
	}
	return sum / float64(max(1, count))
}
