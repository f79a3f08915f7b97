// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"math"

	"github.com/euryale-dev/euryale/internal/parallel"
)

// exposure is one beam at one energy, with its images.
type exposure struct {
	*view
	*projector
	contrasts []contrast
	changes   []contrast  // changes of the contrasts along a direction
	images    [][]float64 // images by [image][ny nx]; NaN where the detector sees nothing
}

// site is the place of one element of the spectra, as a detector pixel reads it.
type site struct {
	plane    int     // plane m
	at, step int     // index of the element of C of field 0 in data, and distance from field to field
	twin     int     // distance from C to S in data
	sign     float64 // sign in F = C - i sign S
	turn     float64 // -1 if the pixel reads the conjugate of F, otherwise 1
}

// site returns the element that a pixel reads from plane z; row and x are its place in the half
// spectrum, and conj says whether the pixel reads the conjugate.
func (s *spectra[T]) site(row, x, z int, conj bool) site {
	p := s.index(0, z)
	if conj && p > 0 {
		p = s.n[0] - p
	}
	t := site{sign: 1, turn: 1}
	if conj {
		t.turn = -1
	}
	if 2*p > s.n[0] {
		p, t.sign = s.n[0]-p, -1
	}
	i := row*s.planes + p
	n := int(s.to[i] - s.from[i])
	t.plane, t.at, t.step, t.twin = p, s.place(i, 0, x), 4*n, 2*n
	return t
}

// value returns field k at a site.
func (s *spectra[T]) value(t *site, k int) complex128 {
	at := t.at + k*t.step
	c, v := s.data[at:at+2:at+2], s.data[at+t.twin:at+t.twin+2:at+t.twin+2]
	return complex(float64(c[0])+t.sign*float64(v[1]), t.turn*(float64(c[1])-t.sign*float64(v[0])))
}

// symmetric is a symmetric tensor: xx, xy, xz, yy, yz, zz.
type symmetric [6]complex128

// times returns n e/(4 pi).
func (n *symmetric) times(e vec) cvec {
	const f = 1 / (4 * math.Pi)
	switch e {
	case vec{1, 0, 0}:
		return cvec{times(f, n[0]), times(f, n[1]), times(f, n[2])}
	case vec{0, 1, 0}:
		return cvec{times(f, n[1]), times(f, n[3]), times(f, n[4])}
	}
	x, y, z := f*e[0], f*e[1], f*e[2]
	return cvec{
		times(x, n[0]) + times(y, n[1]) + times(z, n[2]),
		times(x, n[1]) + times(y, n[3]) + times(z, n[4]),
		times(x, n[2]) + times(y, n[4]) + times(z, n[5]),
	}
}

// times returns the product f z.
func times(f float64, z complex128) complex128 { return complex(f*real(z), f*imag(z)) }

// polarizations returns the polarization at a site for the fields along e1 and e2.
func (s *spectra[T]) polarizations(h *exposure, t *site) (a1, a2 cvec) {
	n := s.dielectric(t, h.contrasts)
	if h.alone {
		return n.times(h.e1), a2
	}
	return n.times(h.e1), n.times(h.e2)
}

// addBack adds to n its gradient, given the gradient b of n.times(e).
func (n *symmetric) addBack(b cvec, e vec) {
	const f = 1 / (4 * math.Pi)
	x, y, z := f*e[0], f*e[1], f*e[2]
	n[0] += times(x, b[0])
	n[1] += times(y, b[0]) + times(x, b[1])
	n[2] += times(z, b[0]) + times(x, b[2])
	n[3] += times(y, b[1])
	n[4] += times(z, b[1]) + times(y, b[2])
	n[5] += times(z, b[2])
}

// dielectric returns the transform of e - 1 at a site.
func (s *spectra[T]) dielectric(t *site, contrasts []contrast) (n symmetric) {
	var iso complex128
	for m, p := range s.materials {
		c := &contrasts[m]
		iso += c.iso * s.value(t, p.first+fieldV)
		if p.count == 1 {
			continue
		}
		pa := s.value(t, p.first+fieldPA)
		xx, yy := s.value(t, p.first+fieldXX), s.value(t, p.first+fieldYY)
		iso += c.axial * pa
		n[0] += c.tensor * xx
		n[1] += c.tensor * s.value(t, p.first+fieldXY)
		n[2] += c.tensor * s.value(t, p.first+fieldXZ)
		n[3] += c.tensor * yy
		n[4] += c.tensor * s.value(t, p.first+fieldYZ)
		n[5] += c.tensor * (pa - xx - yy)
	}
	n[0] += iso
	n[3] += iso
	n[5] += iso
	return n
}

// dielectricBack takes the gradient b of dielectric to the fields, in g, and to the contrasts, in
// back.
func (s *spectra[T]) dielectricBack(g *column, t *site, contrasts, back []contrast, b *symmetric) {
	iso := b[0] + b[3] + b[5]
	for m, p := range s.materials {
		c, d := &contrasts[m], &back[m]
		d.iso += mulConj(iso, s.value(t, p.first+fieldV))
		g.add(t, p.first+fieldV, mulConj(iso, c.iso))
		if p.count == 1 {
			continue
		}
		pa, xx, yy := s.value(t, p.first+fieldPA), s.value(t, p.first+fieldXX), s.value(t, p.first+fieldYY)
		xy, xz, yz := s.value(t, p.first+fieldXY), s.value(t, p.first+fieldXZ), s.value(t, p.first+fieldYZ)
		d.axial += mulConj(iso, pa)
		d.tensor += mulConj(b[0], xx) + mulConj(b[1], xy) + mulConj(b[2], xz) + mulConj(b[3], yy) + mulConj(b[4], yz) + mulConj(b[5], pa-xx-yy)
		g.add(t, p.first+fieldPA, mulConj(iso, c.axial)+mulConj(b[5], c.tensor))
		g.add(t, p.first+fieldXX, mulConj(b[0]-b[5], c.tensor))
		g.add(t, p.first+fieldXY, mulConj(b[1], c.tensor))
		g.add(t, p.first+fieldXZ, mulConj(b[2], c.tensor))
		g.add(t, p.first+fieldYY, mulConj(b[3]-b[5], c.tensor))
		g.add(t, p.first+fieldYZ, mulConj(b[4], c.tensor))
	}
}

// mulConj returns a times the conjugate of b.
func mulConj(a, b complex128) complex128 { return a * complex(real(b), -imag(b)) }

// expose fills the images of the exposures.
func (s *spectra[T]) expose(exposures []*exposure) {
	if s.polarizer != nil {
		planes := s.foldings()
		parallel.Do(s.workers, s.n[1], func(_, row int) {
			for _, h := range exposures {
				s.exposeAlong(h, row, planes)
			}
		})
		return
	}
	parallel.Do(s.workers, s.n[1], func(_, row int) {
		for _, h := range exposures {
			s.exposeRow(h, row, func(out []float64, t site, w float64, kappa vec) {
				a1, a2 := s.polarizations(h, &t)
				h.add(out, w, &a1, &a2, kappa)
			})
		}
	})
}

// exposeRow fills the pixels that read one row of the half spectrum; add adds the contribution of a
// site with weight w to a pixel.
func (s *spectra[T]) exposeRow(h *exposure, row int, add func(out []float64, t site, w float64, kappa vec)) {
	out := make([]float64, len(h.images))
	for x := range s.columns() {
		pixels, n := s.pixels(row, x)
		for _, p := range pixels[:n] {
			c, ok := h.cut(p.y, p.x)
			for j := range out {
				if out[j] = 0; !ok {
					out[j] = math.NaN()
				}
			}
			for dz, w := range c.weights() {
				if ok && w > 0 {
					add(out, s.site(row, x, c.z+dz, p.conj), w, h.transfer(c.z+dz, p.y, p.x))
				}
			}
			for j, v := range out {
				h.images[j][p.y*s.n[2]+p.x] = v
			}
		}
	}
}

// outline sets the first image to 0 where the detector sees something and to NaN
// elsewhere.
func (h *exposure) outline(workers int) {
	nx := h.n[2]
	parallel.Do(workers, h.n[1], func(_, y int) {
		for x := range nx {
			h.images[0][y*nx+x] = 0
			if _, ok := h.cut(y, x); !ok {
				h.images[0][y*nx+x] = math.NaN()
			}
		}
	})
}
