// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// seen is a frame while the effects of the measurement are put on it.
type seen struct {
	*pass
	light  *light
	frame  *Frame
	number int // number of the energy, from 1
}

// polarised mixes the two linear polarisations by the purity.
func (p *pass) polarised(l *light, angle float64) *ad.Node {
	of := p.needs(angle)
	i := p.intensity(l, of[0])
	if len(of) == 1 {
		return i
	}
	purity := p.value("purity")
	return ad.Add(ad.Mul(purity, i), ad.Mul(ad.Sub(ad.Scalar(1), purity), p.intensity(l, of[1])))
}

// averaged takes the mean over the pixels of the file that were added up to one. Of b along a side, the middles scatter by (1 - 1/b^2)/12 of the
// square of the sum's width, of which half times the second derivative is what the mean has beyond the value at the middle.
func (p *pass) averaged(x *ad.Node) *ad.Node {
	if p.Data.Bin < 2 {
		return x
	}
	rows, columns := p.detector.Size()
	if p.averages == nil {
		b := float64(p.Data.Bin)
		variance := (1 - 1/(b*b)) / 12
		matrix := func(n int) *ad.Node {
			m := make([]float64, n*n)
			for i := range n {
				m[i*n+i] = 1
				if i > 0 && i < n-1 { // the edges of the detector have a neighbour on one side only
					m[i*n+i-1], m[i*n+i], m[i*n+i+1] = variance/2, 1-variance, variance/2
				}
			}
			return ad.Const(m, n, n)
		}
		p.averages = []*ad.Node{matrix(rows), ad.T(matrix(columns))}
	}
	x = ad.MatMul(ad.MatMul(p.averages[0], ad.Reshape(x, rows, columns)), p.averages[1])
	return ad.Reshape(x, x.Size())
}

// blurred convolves with a Gaussian whose standard deviation is the resolution in pixels, and leaves the padding away.
func (p *pass) blurred(x *ad.Node) *ad.Node {
	sd := p.value("resolution")
	if p.Data.Fan != nil {
		return x
	}
	x = p.averaged(x)
	if sd == nil {
		return p.cropped(x)
	}
	if p.blur == nil {
		p.layOutBlur(sd)
	}
	rows, columns := p.detector.Size()
	x = ad.MatMul(ad.MatMul(p.blur[0], ad.Reshape(x, rows, columns)), p.blur[1])
	return ad.Reshape(x, x.Size())
}

// layOutBlur makes the matrices of the blur along rows and columns, whose products run many times faster than sums of shifted images.
func (p *pass) layOutBlur(sd *ad.Node) {
	const least = 1e-3 // pixels, where the blur is none
	var exponent []float64
	for i := -p.taps; i <= p.taps; i++ {
		exponent = append(exponent, -float64(i*i)/2)
	}
	g := ad.Exp(ad.Div(ad.Const(exponent), ad.Shift(ad.Square(sd), least*least)))
	g = ad.Concat(0, ad.Div(g, ad.Sum(g)), ad.Const([]float64{0}))
	weights := func(n int) *ad.Node {
		padded := n + 2*p.taps
		tap := make([]int, n*padded)
		for k := range tap {
			if tap[k] = k%padded - k/padded; tap[k] < 0 || tap[k] > 2*p.taps {
				tap[k] = 2*p.taps + 1
			}
		}
		return ad.Gather(g, ad.Ints(tap, n, padded), 0)
	}
	d := p.Data.Detector
	p.blur = []*ad.Node{weights(d.Rows), ad.T(weights(d.Columns))}
}

// scale is exp(log_scale + scale_N): what converts intensities to counts per second, with a correction for each energy but the first.
func (s *seen) scale() *ad.Node {
	total := s.or("log_scale", 0)
	if x := s.value(fmt.Sprintf("scale_%d", s.number)); x != nil {
		total = ad.Add(total, x)
	}
	return ad.Exp(total)
}

// q0 is the q in 1/nm at which background_q4 is given, and leastQ that below which it does not grow, so that it stays finite where the
// beam stop is.
const q0, leastQ = 0.1, 0.01

func (s *seen) background() *ad.Node {
	b := s.value("background")
	b4 := s.value("background_q4")
	if b4 == nil {
		return b
	}
	q := ad.Scale(1/q0, s.q(s.light, leastQ))
	power := ad.Pow(q, ad.Neg(s.or("background_exponent", 4)))
	falling := ad.Mul(b4, power)
	if b == nil {
		return falling
	}
	return ad.Add(b, falling)
}

// transmission is what the sample lets through: as measured, or by the absorption of a thickness of the matrix.
func (s *seen) transmission() *ad.Node {
	var t *ad.Node
	if x := s.frame.Transmission; x != 0 {
		t = ad.Scalar(x)
	}
	if x := s.value("thickness"); x != nil && s.light.absorption != nil {
		by := ad.Exp(ad.Neg(ad.Mul(x, s.light.absorption)))
		if t == nil {
			return by
		}
		return ad.Mul(t, by)
	}
	return t
}

// fluorescence is light of other energies, the same in all directions.
func (s *seen) fluorescence() *ad.Node {
	common, own := s.value("fluorescence"), s.value(fmt.Sprintf("fluorescence_%d", s.number))
	switch {
	case common == nil:
		return own
	case own == nil:
		return common
	}
	return ad.Add(common, own)
}

// dark is what a pixel counts in a second without light.
func (s *seen) dark() *ad.Node {
	if x := s.value("dark"); x != nil {
		return x
	}
	if s.frame.Dark == 0 {
		return nil
	}
	return ad.Scalar(s.frame.Dark)
}
