// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import "math"

// part makes some of the fields that are transformed, slice by slice.
type part[T float] interface {
	span() (first, count int)               // its place among all fields
	fill(w *scratch[T], z int) (empty bool) // computes slice z into w.fields, unless it is 0
	back(w *scratch[T], z int)              // propagates the gradients of slice z in w.fields to the arrays
}

// polarizer makes what light with its field along x induces at one energy, 4 pi times the polarization, instead of the
// fields of all materials, which are more. With I = sum of iso Vfrac + axial pa,
//
//	fields 0, 1: real and imaginary part of I + sum of tensor pa s_x^2
//	fields 2, 3: pa s_x s_y and pa s_x s_z of the only anisotropic material, without its factor tensor
//	fields 2 to 5: if several are, real and imaginary parts of the sums of tensor pa s_x s_y and tensor pa s_x s_z
type polarizer[T float] struct {
	materials []*products[T]
	contrasts []contrast
	single    int // the only anisotropic material; -1 if there are none or several
	count     int
	sums      [][]contrast // gradients with respect to the contrasts, by slice; nil without gradients
}

// newPolarizer returns nil if the materials have no more fields than their polarization.
func newPolarizer[T float](materials []*products[T], contrasts []contrast) *polarizer[T] {
	p := &polarizer[T]{materials: materials, contrasts: contrasts, single: -1, count: 2}
	fields, anisotropic := 0, 0
	for i, m := range materials {
		if fields += m.count; m.count > 1 {
			anisotropic++
			p.single = i
		}
	}
	if p.count += 2 * min(anisotropic, 2); anisotropic > 1 {
		p.single = -1
	}
	if p.count >= fields {
		return nil
	}
	return p
}

func (p *polarizer[T]) span() (first, count int) { return 0, p.count }

// weights returns the factors of a real and an imaginary field.
func weights[T float](c complex128) []T { return []T{T(real(c)), T(imag(c))} }

// addTo adds c x, which is complex, to a real and an imaginary field.
func addTo[T float](re, im, x []T, c complex128) { pairSums(re, im, x, start, weights[T](c)) }

// start is the place of the only row of addTo.
var start = []int{0}

func (p *polarizer[T]) fill(w *scratch[T], z int) (empty bool) {
	var present []int
	inputs := make([][4][]T, len(p.materials))
	for i, m := range p.materials {
		if inputs[i] = m.inputs(w, z); !m.absent(inputs[i]) {
			present = append(present, i)
		}
	}
	for lo := 0; lo < w.n; lo += trigBlock {
		hi := min(lo+trigBlock, w.n)
		for k := range p.count {
			clear(w.fields[k][lo:hi])
		}
		for _, i := range present {
			p.add(w, i, inputs[i], lo, hi)
		}
	}
	return len(present) == 0
}

// add adds voxels lo to hi of a material.
func (p *polarizer[T]) add(w *scratch[T], i int, in [4][]T, lo, hi int) {
	m, c, re, im := p.materials[i], &p.contrasts[i], w.fields[0][lo:hi], w.fields[1][lo:hi]
	if m.count == 1 {
		addTo(re, im, in[0][lo:hi], c.iso)
		return
	}
	var f [anisotropic][]T // without yy and yz, which the polarization does not have
	block := w.room(&w.block, (fieldXZ+1)*trigBlock)
	for k := range fieldXZ + 1 {
		f[k] = block[k*trigBlock:][:hi-lo]
	}
	if p.single == i {
		f[fieldXY], f[fieldXZ] = w.fields[2][lo:hi], w.fields[3][lo:hi]
	}
	m.voxels(w, &f, in, lo, hi)
	addTo(re, im, f[fieldV], c.iso)
	pairSums(re, im, block, alignedRows, append(weights[T](c.axial), weights[T](c.tensor)...))
	if p.single != i {
		addTo(w.fields[2][lo:hi], w.fields[3][lo:hi], f[fieldXY], c.tensor)
		addTo(w.fields[4][lo:hi], w.fields[5][lo:hi], f[fieldXZ], c.tensor)
	}
}

// alignedRows are the places of pa and xx in the memory of blocks.
var alignedRows = []int{fieldPA * trigBlock, fieldXX * trigBlock}

// back propagates the gradients of slice z in w.fields to the arrays, and stores those of the contrasts.
func (p *polarizer[T]) back(w *scratch[T], z int) {
	inner := w.within()
	p.sums[z] = make([]contrast, len(p.materials))
	for i, m := range p.materials {
		c, sum := &p.contrasts[i], &p.sums[z][i]
		if inner.borrow = false; m.make(inner, z) {
			for k := range m.count {
				clear(inner.fields[k])
			}
		}
		re, im := w.fields[0], w.fields[1]
		sum.iso = backTo(inner.fields[fieldV], re, im, c.iso)
		if m.count > 1 {
			sum.axial = backTo(inner.fields[fieldPA], re, im, c.axial)
			sum.tensor = backTo(inner.fields[fieldXX], re, im, c.tensor)
			if p.single == i {
				copy(inner.fields[fieldXY], w.fields[2])
				copy(inner.fields[fieldXZ], w.fields[3])
			} else {
				sum.tensor += backTo(inner.fields[fieldXY], w.fields[2], w.fields[3], c.tensor)
				sum.tensor += backTo(inner.fields[fieldXZ], w.fields[4], w.fields[5], c.tensor)
			}
			clear(inner.fields[fieldYY])
			clear(inner.fields[fieldYZ])
		}
		m.back(inner, z)
	}
}

// backTo replaces a field x by the gradient with respect to it, given those of the real and imaginary parts of c x. It
// returns the gradient with respect to c.
func backTo[T float](x, re, im []T, c complex128) complex128 {
	g := complex(sumOfProducts(x, re), sumOfProducts(x, im))
	clear(x)
	addScaled(x, re, T(real(c)))
	addScaled(x, im, T(imag(c)))
	return g
}

// within returns memory for the fields of one material.
func (w *scratch[T]) within() *scratch[T] {
	if w.inner == nil {
		w.inner = &scratch[T]{n: w.n}
		w.inner.makeFields()
	}
	return w.inner
}

// gradients returns the sums over all slices.
func (p *polarizer[T]) gradients() []contrast {
	total := make([]contrast, len(p.materials))
	for _, slice := range p.sums {
		for i, c := range slice {
			t := &total[i]
			t.iso, t.axial, t.tensor = t.iso+c.iso, t.axial+c.axial, t.tensor+c.tensor
		}
	}
	return total
}

// polarization returns the transform of the polarization at a site.
func (s *spectra[T]) polarization(t *site) cvec {
	const f = 1 / (4 * math.Pi)
	p := s.polarizer
	if p.single >= 0 {
		c := p.contrasts[p.single].tensor
		return cvec{times(f, s.pair(t, 0)), times(f, c*s.value(t, 2)), times(f, c*s.value(t, 3))}
	}
	if p.count == 2 {
		return cvec{times(f, s.pair(t, 0))}
	}
	return cvec{times(f, s.pair(t, 0)), times(f, s.pair(t, 2)), times(f, s.pair(t, 4))}
}

// pair returns the transform whose real and imaginary parts are fields k and k+1.
func (s *spectra[T]) pair(t *site, k int) complex128 {
	re, im := s.value(t, k), s.value(t, k+1)
	return complex(real(re)-imag(im), imag(re)+real(im))
}

// polarizationBack takes the gradient b of polarization to the fields, in g, and to the contrasts, in back.
func (s *spectra[T]) polarizationBack(g *column, t *site, back []contrast, b *cvec) {
	const f = 1 / (4 * math.Pi)
	p := s.polarizer
	for i := range p.count / 2 {
		if i > 0 && p.single >= 0 {
			break
		}
		d := times(f, b[i])
		g.add(t, 2*i, d)
		g.add(t, 2*i+1, complex(imag(d), -real(d)))
	}
	if p.single < 0 {
		return
	}
	for i := range 2 {
		d := times(f, b[1+i])
		back[p.single].tensor += mulConj(d, s.value(t, 2+i))
		g.add(t, 2+i, mulConj(d, p.contrasts[p.single].tensor))
	}
}
