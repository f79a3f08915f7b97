// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import "github.com/euryale-dev/euryale/internal/parallel"

// column accumulates the gradients of one column x of the half spectrum for all planes: the real and
// imaginary parts of C and of S, by plane and field.
type column struct {
	fields int
	sums   [][4]float64
	room   []float64 // scratch memory for the gradients of a pixel in all images
}

// add adds the gradient g of field k at a site.
func (c *column) add(t *site, k int, g complex128) {
	re, im := real(g), t.turn*imag(g)
	p := &c.sums[t.plane*c.fields+k]
	p[0] += re
	p[1] += im
	p[2] -= t.sign * im
	p[3] += t.sign * re
}

// store adds the sums of column x of a row to the spectra, or replaces the values there, and clears
// the sums.
func (s *spectra[T]) store(c *column, row, x int, replace bool) {
	for m := range s.planes {
		i := row*s.planes + m
		if x < int(s.from[i]) || x >= int(s.to[i]) {
			continue
		}
		n := 2 * int(s.to[i]-s.from[i])
		at := s.place(i, 0, x)
		for k := range s.fields {
			p, d := &c.sums[m*s.fields+k], s.data[at+2*n*k:at+2*n*k+n+2]
			if replace {
				d[0], d[1], d[n], d[n+1] = T(p[0]), T(p[1]), T(p[2]), T(p[3])
			} else {
				d[0], d[1], d[n], d[n+1] = d[0]+T(p[0]), d[1]+T(p[1]), d[n]+T(p[2]), d[n+1]+T(p[3])
			}
			*p = [4]float64{}
		}
	}
}

// exposeBack propagates the gradients of the images to the spectra to, and returns the gradients of
// the contrasts of each exposure.
func (s *spectra[T]) exposeBack(to spectrum, exposures []*exposure) [][]contrast {
	g := to.(*spectra[T])
	rows := make([][][]contrast, s.n[1])
	var planes [2][]folding
	if s.polarizer != nil {
		planes = s.foldings()
	}
	parallel.Do(s.workers, s.n[1], func(_, row int) {
		rows[row] = make([][]contrast, len(exposures))
		for e, h := range exposures {
			rows[row][e] = make([]contrast, len(h.contrasts))
		}
		if s.polarizer != nil {
			s.exposeAlongBack(g, exposures[0], rows[row][0], row, planes)
			return
		}
		s.exposeRowBack(g, exposures, rows[row], row)
	})
	total := rows[0]
	for _, r := range rows[1:] {
		for i := range r {
			for m, c := range r[i] {
				t := &total[i][m]
				t.iso, t.axial, t.tensor = t.iso+c.iso, t.axial+c.axial, t.tensor+c.tensor
			}
		}
	}
	return total
}

// exposeRowBack does the same for one row of the half spectrum. If g shares the memory of s,
// gradients replace values once a column is done.
func (s *spectra[T]) exposeRowBack(g *spectra[T], exposures []*exposure, back [][]contrast, row int) {
	images := 0
	for _, h := range exposures {
		images = max(images, len(h.images))
	}
	sums := &column{fields: s.fields, sums: make([][4]float64, s.planes*s.fields), room: make([]float64, images)}
	replace := &g.data[0] == &s.data[0]
	for x := range s.columns() {
		pixels, n := s.pixels(row, x)
		for e, h := range exposures {
			for _, p := range pixels[:n] {
				s.exposePixelBack(sums, h, back[e], row, x, p)
			}
		}
		g.store(sums, row, x, replace)
	}
}

// exposePixelBack adds the gradient of one pixel to the column that it reads.
func (s *spectra[T]) exposePixelBack(g *column, h *exposure, back []contrast, row, x int, p pixel) {
	d, any := g.room[:len(h.images)], false
	for j := range d {
		d[j] = h.images[j][p.y*s.n[2]+p.x]
		any = any || d[j] != 0
	}
	c, ok := h.cut(p.y, p.x)
	if !ok || !any {
		return
	}
	for dz, w := range c.weights() {
		if w == 0 {
			continue
		}
		z := c.z + dz
		t := s.site(row, x, z, p.conj)
		a1, a2 := s.polarizations(h, &t)
		b1, b2 := h.back(d, w, &a1, &a2, h.transfer(z, p.y, p.x))
		var b symmetric
		b.addBack(b1, h.e1)
		if !h.alone {
			b.addBack(b2, h.e2)
		}
		s.dielectricBack(g, &t, h.contrasts, back, &b)
	}
}
