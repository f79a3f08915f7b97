// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

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
	for k := range fieldXZ + 1 {
		f[k] = w.row(k, hi-lo)
	}
	if p.single == i {
		f[fieldXY], f[fieldXZ] = w.fields[2][lo:hi], w.fields[3][lo:hi]
	}
	m.voxels(w, &f, in, lo, hi)
	addTo(re, im, f[fieldV], c.iso)
	pairSums(re, im, w.block, alignedRows, append(weights[T](c.axial), weights[T](c.tensor)...))
	if p.single != i {
		addTo(w.fields[2][lo:hi], w.fields[3][lo:hi], f[fieldXY], c.tensor)
		addTo(w.fields[4][lo:hi], w.fields[5][lo:hi], f[fieldXZ], c.tensor)
	}
}

// alignedRows are the places of pa and xx in the memory of blocks.
var alignedRows = []int{fieldPA * trigBlock, fieldXX * trigBlock}

// back propagates the gradients of slice z in w.fields to the arrays, and stores those of the contrasts.
func (p *polarizer[T]) back(w *scratch[T], z int) {
	p.sums[z] = make([]contrast, len(p.materials))
	for i, m := range p.materials {
		in, g := m.inputs(w, z), m.targets(w, z)
		for lo := 0; lo < w.n; lo += trigBlock {
			hi := min(lo+trigBlock, w.n)
			if m.count == 1 {
				p.sums[z][i].iso += backTo(g[0][lo:hi], in[0][lo:hi], w.fields[0][lo:hi], w.fields[1][lo:hi], p.contrasts[i].iso)
				continue
			}
			p.blockBack(w, i, in, g, lo, hi, &p.sums[z][i])
		}
		m.store(z, g)
	}
}

// blockBack takes the gradients of voxels lo to hi of an anisotropic material to its arrays g, and adds those of its contrasts. toAngles
// works in the first rows of the memory for blocks.
func (p *polarizer[T]) blockBack(w *scratch[T], i int, in, g [4][]T, lo, hi int, sum *contrast) {
	m, c, re, im := p.materials[i], &p.contrasts[i], w.fields[0][lo:hi], w.fields[1][lo:hi]
	var f [anisotropic][]T
	for k := range fieldXZ + 1 {
		f[k] = w.row(angleRows+k, hi-lo)
	}
	m.voxels(w, &f, in, lo, hi)
	d := f // the gradients take the place of the fields, except that of v, which may be an array
	d[fieldV] = w.row(angleRows+fieldXZ+1, hi-lo)
	sum.iso += backTo(d[fieldV], f[fieldV], re, im, c.iso)
	sum.axial += backTo(d[fieldPA], f[fieldPA], re, im, c.axial)
	sum.tensor += backTo(d[fieldXX], f[fieldXX], re, im, c.tensor)
	if p.single == i {
		d[fieldXY], d[fieldXZ] = w.fields[2][lo:hi], w.fields[3][lo:hi]
	} else {
		sum.tensor += backTo(d[fieldXY], f[fieldXY], w.fields[2][lo:hi], w.fields[3][lo:hi], c.tensor)
		sum.tensor += backTo(d[fieldXZ], f[fieldXZ], w.fields[4][lo:hi], w.fields[5][lo:hi], c.tensor)
	}
	m.blockBack(w, &d, m.within(in, lo, hi), m.within(g, lo, hi), true)
}

// backTo sets dst to the gradient with respect to a field x, given those of the real and imaginary parts of c x. It returns the
// gradient with respect to c.
func backTo[T float](dst, x, re, im []T, c complex128) complex128 {
	g := complex(sumOfProducts(x, re), sumOfProducts(x, im))
	multiple(dst, re, T(real(c)))
	addMultiple(dst, im, T(imag(c)), dst)
	return g
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
