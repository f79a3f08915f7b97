// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import "math"

// exposeAlongBack is exposeRowBack for spectra of the polarization of a field along x and the only exposure h.
func (s *spectra[T]) exposeAlongBack(g *spectra[T], h *exposure, back []contrast, row int, planes [2][]folding) {
	runs, image := s.elements(row), h.images[0]
	sums := &column{fields: s.fields, sums: make([][4]float64, s.planes*s.fields)}
	replace := &g.data[0] == &s.data[0]
	for x := range s.columns() {
		pixels, n := s.pixels(row, x)
		for _, p := range pixels[:n] {
			slope := image[p.y*s.n[2]+p.x]
			c, ok := h.cut(p.y, p.x)
			if !ok || slope == 0 {
				continue
			}
			list, turn := planes[0], 1.0
			if p.conj {
				list, turn = planes[1], -1
			}
			kappa := h.transfer(c.z, p.y, p.x)
			for dz, w := range c.weights() {
				if w == 0 {
					continue
				}
				f := list[c.z+dz]
				r := &runs[f.m]
				kappa[2] = h.kv[2] + h.q(0, c.z+dz)
				var d induced
				induce(&d, s.polarizer, s.data[r.at+2*x:], r.twin, f.sign, turn)
				d.intensityBack(h, 2*w*slope, &kappa)
				induceBack(&d, s.polarizer, sums.sums[f.m*s.fields:][:s.fields], back, f.sign, turn)
			}
		}
		g.store(sums, row, x, replace)
	}
}

// intensityBack replaces the polarization by the gradient with respect to it, given half that of the intensity.
func (d *induced) intensityBack(h *exposure, slope float64, kappa *vec) {
	all, along := h.factors(*kappa)
	re, im := d.along(kappa)
	for i, k := range kappa {
		d.a[i] = [2]float64{slope * (all*d.a[i][0] + along*k*re), slope * (all*d.a[i][1] + along*k*im)}
	}
}

// induceBack takes the gradient of the polarization to the sums of the fields in a plane, and to the contrasts in back.
func induceBack[T float](d *induced, p *polarizer[T], sums [][4]float64, back []contrast, sign, turn float64) {
	const f = 1 / (4 * math.Pi)
	for i := range d.a {
		re, im := f*d.a[i][0], f*d.a[i][1]
		switch {
		case i == 0 || p.single < 0 && p.count > 2:
			addAt(&sums[2*i], re, im, sign, turn)
			addAt(&sums[2*i+1], im, -re, sign, turn)
		case p.single >= 0:
			v, t, to := &d.v[i-1], p.contrasts[p.single].tensor, &back[p.single].tensor
			*to += complex(re*v[0]+im*v[1], im*v[0]-re*v[1])
			addAt(&sums[1+i], re*real(t)+im*imag(t), im*real(t)-re*imag(t), sign, turn)
		}
	}
}

// addAt is column.add for the gradient of one field.
func addAt(sum *[4]float64, re, im, sign, turn float64) {
	im *= turn
	sum[0] += re
	sum[1] += im
	sum[2] -= sign * im
	sum[3] += sign * re
}
