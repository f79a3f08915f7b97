// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import "math"

// element is where a row of the half spectrum has the run of a plane: element x of C of field k is at at+2x+2 twin k in data, that
// of S twin further.
type element struct{ at, twin int }

// elements returns the runs of a row, by plane m.
func (s *spectra[T]) elements(row int) []element {
	list := make([]element, s.planes)
	for m := range list {
		i := row*s.planes + m
		list[m] = element{s.place(i, 0, 0), 2 * int(s.to[i]-s.from[i])}
	}
	return list
}

// folding is the plane m of C and S that holds plane z of the volume, and the sign of S there: F = C - i sign S.
type folding struct {
	m    int
	sign float64
}

// foldings returns the planes that hold plane z, by z, for pixels that read the spectrum and for those that read its conjugate.
func (s *spectra[T]) foldings() (list [2][]folding) {
	for z := range s.n[0] {
		for i, conj := range []bool{false, true} {
			p := s.index(0, z)
			if conj {
				p = (s.n[0] - p) % s.n[0]
			}
			f := folding{p, 1}
			if 2*p > s.n[0] {
				f = folding{s.n[0] - p, -1}
			}
			list[i] = append(list[i], f)
		}
	}
	return list
}

// exposeAlong is exposeRow for spectra of the polarization of a field along x. Pixels outside the sphere are NaN.
func (s *spectra[T]) exposeAlong(h *exposure, row int, planes [2][]folding) {
	runs, image := s.elements(row), h.images[0]
	for x := range s.columns() {
		pixels, n := s.pixels(row, x)
		for _, p := range pixels[:n] {
			to := &image[p.y*s.n[2]+p.x]
			c, ok := h.cut(p.y, p.x)
			if *to = math.NaN(); !ok {
				continue
			}
			list, turn := planes[0], 1.0
			if p.conj {
				list, turn = planes[1], -1
			}
			sum, kappa := 0.0, h.transfer(c.z, p.y, p.x)
			for dz, w := range c.weights() {
				if w > 0 {
					f := list[c.z+dz]
					r := &runs[f.m]
					kappa[2] = h.kv[2] + h.q(0, c.z+dz)
					sum += w * s.intensityAlong(h, r.at+2*x, r.twin, f.sign, turn, &kappa)
				}
			}
			*to = sum
		}
	}
}

// complexAt returns an element of a field: that of C is at at in data, and that of S twin further.
func complexAt[T float](data []T, at, twin int, sign, turn float64) (re, im float64) {
	return float64(data[at]) + sign*float64(data[at+twin+1]), turn * (float64(data[at+1]) - sign*float64(data[at+twin]))
}

// induced is the polarization for a field along x at a site.
type induced struct {
	a [3][2]float64 // x, y and z, real and imaginary parts
	v [2][2]float64 // fields 2 and 3, if y and z are those times a factor
}

// intensityAlong is projector.add for the polarization whose field 0 has its element of C at at in data.
func (s *spectra[T]) intensityAlong(h *exposure, at, twin int, sign, turn float64, kappa *vec) float64 {
	var d induced
	induce(&d, s.polarizer, s.data[at:], twin, sign, turn)
	all, along := h.factors(*kappa)
	re, im := d.along(kappa)
	x, y, z := &d.a[0], &d.a[1], &d.a[2]
	return all*(x[0]*x[0]+x[1]*x[1]+(y[0]*y[0]+y[1]*y[1])+(z[0]*z[0]+z[1]*z[1])) + along*(re*re+im*im)
}

// along returns the component of the polarization along kappa, times the length of kappa.
func (d *induced) along(kappa *vec) (re, im float64) {
	return d.a[0][0]*kappa[0] + d.a[1][0]*kappa[1] + d.a[2][0]*kappa[2], d.a[0][1]*kappa[0] + d.a[1][1]*kappa[1] + d.a[2][1]*kappa[2]
}

// induce reads the polarization from data, which begins with the element of C of field 0.
func induce[T float](d *induced, p *polarizer[T], data []T, twin int, sign, turn float64) {
	const f = 1 / (4 * math.Pi)
	data = data[:2*twin*(p.count-1)+twin+2]
	re0, im0 := complexAt(data, 0, twin, sign, turn)
	re1, im1 := complexAt(data, 2*twin, twin, sign, turn)
	d.a[0] = [2]float64{f * (re0 - im1), f * (im0 + re1)}
	if p.count == 2 {
		return
	}
	re2, im2 := complexAt(data, 4*twin, twin, sign, turn)
	re3, im3 := complexAt(data, 6*twin, twin, sign, turn)
	if p.single >= 0 {
		t := p.contrasts[p.single].tensor
		d.v = [2][2]float64{{re2, im2}, {re3, im3}}
		d.a[1] = [2]float64{f * (real(t)*re2 - imag(t)*im2), f * (real(t)*im2 + imag(t)*re2)}
		d.a[2] = [2]float64{f * (real(t)*re3 - imag(t)*im3), f * (real(t)*im3 + imag(t)*re3)}
		return
	}
	re4, im4 := complexAt(data, 8*twin, twin, sign, turn)
	re5, im5 := complexAt(data, 10*twin, twin, sign, turn)
	d.a[1], d.a[2] = [2]float64{f * (re2 - im3), f * (im2 + re3)}, [2]float64{f * (re4 - im5), f * (im4 + re5)}
}
