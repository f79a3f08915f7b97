// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import "math"

type cvec = [3]complex128

// projector turns the polarization of a pixel into the intensities that the images hold. With A1, A2
// the transformed polarization for the field along e1 and e2, the polarization for a field in
// between is A = cos A1 + sin A2 and its image is
//
//	|E|^2,  E = k^2 A - kappa (kappa . A),  |E|^2 = k^4 |A|^2 + (kappa^2 - 2 k^2) |kappa . A|^2
//
// In the laboratory's frame all angles follow from three images, |E1|^2, |E2|^2
// and Re E1 . E2*; one or two angles have images of their own instead. In the
// material's frame kappa turns with the field and every angle has its own.
type projector struct {
	wave  float64
	field [][2]float64 // cosine and sine of every rotation angle
	own   bool         // whether every rotation has an image of its own
	alone bool         // whether the only field is e1, so that A2 does not matter
	// rotations from the material's frame to the laboratory's; nil in the laboratory's frame
	turns []mat3
}

func newProjector(b *beam, turns []foldedAngle, frame Frame, wave float64) *projector {
	p := &projector{wave: wave, own: frame == MaterialFrame || len(turns) < 3}
	p.alone = frame == LabFrame && len(turns) == 1 && b.angles[turns[0].angle] == 0
	for _, t := range turns {
		angle := b.angles[t.angle]
		s, c := math.Sincos(angle)
		p.field = append(p.field, [2]float64{c, s})
		if frame == MaterialFrame {
			p.turns = append(p.turns, turn(b.k, angle).product(fromZ(b.k)))
		}
	}
	return p
}

// images returns the number of images.
func (p *projector) images() int {
	if p.own {
		return len(p.field)
	}
	return 3
}

// mix returns the weights of the images at rotation t, and the index of the first image.
func (p *projector) mix(t int) (first int, weights []float64) {
	if p.own {
		return t, []float64{1}
	}
	c, s := p.field[t][0], p.field[t][1]
	return 0, []float64{c * c, s * s, 2 * c * s}
}

// turned returns kappa in the frame of rotation t.
func (p *projector) turned(t int, kappa vec) vec {
	if p.turns == nil {
		return kappa
	}
	return p.turns[t].times(kappa)
}

func (p *projector) factors(kappa vec) (all, along float64) {
	k2 := p.wave * p.wave
	return k2 * k2, dot(kappa, kappa) - 2*k2
}

// add adds w times the intensities to out.
func (p *projector) add(out []float64, w float64, a1, a2 *cvec, kappa vec) {
	all, along := p.factors(kappa)
	if p.alone {
		out[0] += w * (all*norm(a1) + along*abs2(along1(a1, kappa)))
		return
	}
	if !p.own {
		d1, d2 := along1(a1, kappa), along1(a2, kappa)
		out[0] += w * (all*norm(a1) + along*abs2(d1))
		out[1] += w * (all*norm(a2) + along*abs2(d2))
		out[2] += w * (all*inner(a1, a2) + along*(real(d1)*real(d2)+imag(d1)*imag(d2)))
		return
	}
	for t, f := range p.field {
		a := blend(f, a1, a2)
		out[t] += w * (all*norm(&a) + along*abs2(along1(&a, p.turned(t, kappa))))
	}
}

// back returns the gradients with respect to a1 and a2, given the gradients g of the intensities,
// times w.
func (p *projector) back(g []float64, w float64, a1, a2 *cvec, kappa vec) (b1, b2 cvec) {
	all, along := p.factors(kappa)
	if !p.own {
		d1, d2 := along1(a1, kappa), along1(a2, kappa)
		for i := range kappa {
			f := complex(along*kappa[i], 0)
			t1, t2 := complex(all, 0)*a1[i]+f*d1, complex(all, 0)*a2[i]+f*d2
			b1[i] = complex(2*w*g[0], 0)*t1 + complex(w*g[2], 0)*t2
			b2[i] = complex(2*w*g[1], 0)*t2 + complex(w*g[2], 0)*t1
		}
		return b1, b2
	}
	for t, f := range p.field {
		a, turned := blend(f, a1, a2), p.turned(t, kappa)
		d := along1(&a, turned)
		for i := range kappa {
			b := complex(2*w*g[t], 0) * (complex(all, 0)*a[i] + complex(along*turned[i], 0)*d)
			b1[i] += complex(p.field[t][0], 0) * b
			b2[i] += complex(p.field[t][1], 0) * b
		}
	}
	return b1, b2
}

func along1(a *cvec, v vec) complex128 {
	return complex(
		real(a[0])*v[0]+real(a[1])*v[1]+real(a[2])*v[2],
		imag(a[0])*v[0]+imag(a[1])*v[1]+imag(a[2])*v[2])
}

func abs2(z complex128) float64 { return real(z)*real(z) + imag(z)*imag(z) }

func norm(a *cvec) float64 { return abs2(a[0]) + abs2(a[1]) + abs2(a[2]) }

// inner returns Re a . b*.
func inner(a, b *cvec) (s float64) {
	for i := range a {
		s += real(a[i])*real(b[i]) + imag(a[i])*imag(b[i])
	}
	return s
}

func blend(f [2]float64, a, b *cvec) (c cvec) {
	for i := range c {
		c[i] = complex(f[0]*real(a[i])+f[1]*real(b[i]), f[0]*imag(a[i])+f[1]*imag(b[i]))
	}
	return c
}
