package transport

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Pairs are pairs of frames, the first before the second unless they are a Square: elements of a vector over the frames, as they are combined.
type Pairs struct {
	first, second func(v *ad.Node) *ad.Node
	anyOrder      bool // whether the second frame may be before the first
}

// AllPairs are all pairs i < j of n frames as a vector, row by row.
func AllPairs(n int) Pairs {
	var a, b []int
	for i := range n {
		for j := i + 1; j < n; j++ {
			a, b = append(a, i), append(b, j)
		}
	}
	first, second := ad.Ints(a), ad.Ints(b)
	return Pairs{first: func(v *ad.Node) *ad.Node { return ad.Gather(v, first, 0) }, second: func(v *ad.Node) *ad.Node { return ad.Gather(v, second, 0) }}
}

// Rectangle are the pairs of frames from..to-1, as rows, with frames begin..end-1, as columns.
func Rectangle(from, to, begin, end int) Pairs {
	return Pairs{first: func(v *ad.Node) *ad.Node { return ad.Reshape(ad.Slice(v, 0, from, to), to-from, 1) }, second: func(v *ad.Node) *ad.Node { return ad.Slice(v, 0, begin, end) }}
}

// Square are all pairs of n frames in both orders, and each frame with itself: a symmetric matrix.
func Square(n int) Pairs {
	p := Rectangle(0, n, 0, n)
	p.anyOrder = true
	return p
}

// rise returns how much an integral grows from the first frame of each pair to the second.
func (p Pairs) rise(integral *ad.Node) *ad.Node {
	d := ad.Sub(p.second(integral), p.first(integral))
	if p.anyOrder {
		return ad.Abs(d)
	}
	return d
}

// product returns the product of a quantity at both frames.
func (p Pairs) product(v *ad.Node) *ad.Node { return ad.Mul(p.first(v), p.second(v)) }

// Pairs returns g of the pairs for each angle, of parameters theta in the order of Names. Gradient: exact, of any order. Where Domain finds a
// fault the numbers have no meaning.
func (s *Setup) Pairs(theta []*ad.Node, p Pairs) []*ad.Node {
	err := s.Check()
	if err == nil && len(theta) != len(names[s.Model]) {
		err = fmt.Errorf("transport: %d parameters for %s: want %d", len(theta), s.Model, len(names[s.Model]))
	}
	if err != nil {
		return []*ad.Node{ad.Fail(err)}
	}
	if s.Customary {
		return s.customary(theta, p)
	}
	var all []*ad.Node
	q2 := s.Q * s.Q
	switch s.Model {
	case TwoComponent:
		reference, sample := s.integral(theta[0:3]), s.integral(theta[3:6])
		flow := p.rise(s.integral(theta[6:9]))
		fraction := s.fraction(theta[9:13])
		decay := func(v *ad.Node) *ad.Node { return ad.Exp(ad.Scale(-q2/2, p.rise(v))) }
		for _, angle := range s.Angles {
			phase := ad.Mul(ad.Scale(s.Q, cosine(ad.Shift(theta[13], angle))), flow)
			all = append(all, mixed(p, fraction, decay(reference), decay(sample), phase))
		}
	default:
		decay := ad.Exp(ad.Scale(-q2, p.rise(s.integral(theta[:3]))))
		if s.Model == Static {
			for range s.Angles {
				all = append(all, decay)
			}
			break
		}
		strain := p.rise(s.integral(theta[3:6]))
		for _, angle := range s.Angles {
			x := ad.Mul(ad.Scale(s.Q*s.Gap/2, cosine(ad.Shift(ad.Neg(theta[6]), angle))), strain)
			all = append(all, ad.Mul(decay, ad.Square(ad.Sinc(x))))
		}
	}
	return all
}

// cosine is the cosine of an angle in degrees.
func cosine(degrees *ad.Node) *ad.Node { return ad.Cos(ad.Scale(math.Pi/180, degrees)) }

// mixed returns |r r h_r + f f h_s e^(i x)|^2 / ((f^2 + r^2)(f^2 + r^2)) of pairs, with r = 1-f.
func mixed(p Pairs, fraction, reference, sample, phase *ad.Node) *ad.Node {
	rest := ad.Sub(ad.Scalar(1), fraction)
	a, b := ad.Mul(p.product(rest), reference), ad.Mul(p.product(fraction), sample)
	norm := p.product(ad.Add(ad.Square(fraction), ad.Square(rest)))
	return ad.Div(ad.AddN(ad.Square(a), ad.Square(b), ad.Scale(2, ad.Mul(ad.Mul(a, b), ad.Cos(phase)))), norm)
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
