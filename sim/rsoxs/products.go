// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

// The real fields that the dielectric tensor of a material is made of, see
// contrast: the volume fraction and, unless it is isotropic, its aligned part pa
// and pa s_i s_j. The zz element is pa - xx - yy.
const (
	fieldV = iota
	fieldPA
	fieldXX
	fieldXY
	fieldXZ
	fieldYY
	fieldYZ
	anisotropic // number of fields of an anisotropic material
)

// products computes the fields of one material, slice by slice, and propagates their gradients back
// to its arrays.
type products[T float] struct {
	number int // index of the material
	first  int // index of its first field among those of all materials
	count  int // number of its fields
	vector bool
	source []stack[T] // arrays Vfrac, S, Theta, Psi or Align, Unaligned
	grad   []stack[T] // gradients of these arrays
	// changes along a direction, with nil entries for arrays that stay; nil for the fields
	// themselves
	change []*stack[T]
}

func newProducts[T float](m *Material, number, first, depth int) *products[T] {
	p := &products[T]{number: number, first: first, count: anisotropic, vector: m.vector()}
	if m.isotropic() {
		p.count = 1
	}
	for _, f := range m.fields() {
		p.source = append(p.source, newStack[T](*f.at, depth))
	}
	return p
}

// scratch is the memory of one goroutine, slices of n voxels.
type scratch[T float] struct {
	n      int
	arrays [][4][]T // slices of the source arrays of each material, converted; Align takes three
	grads  [4][]T
	trig   [6][]T
	angles angles[T]        // in the memory of trig
	fields [anisotropic][]T // fields, in the memory of their spectra
	block  []T              // rows of trigBlock voxels, one after the other
	mean   [anisotropic][]T // means of the fields over slices
	borrow bool             // whether fields may be slices of the source arrays, because nothing is written to them
	fft    *transformer[T]
}

// makeFields allocates memory for fields whose spectra are not needed.
func (w *scratch[T]) makeFields() {
	for k := range w.fields {
		w.fields[k] = make([]T, w.n)
	}
}

func (w *scratch[T]) room(slot *[]T, n int) []T {
	if len(*slot) < n {
		*slot = make([]T, n)
	}
	return (*slot)[:n]
}

func (p *products[T]) span() (first, count int) { return p.first, p.count }

// inputs returns slice z of the sources, until those of another slice are asked for.
func (p *products[T]) inputs(w *scratch[T], z int) (in [4][]T) {
	for len(w.arrays) <= p.number {
		w.arrays = append(w.arrays, [4][]T{})
	}
	for i, s := range p.source {
		if s.other == nil {
			in[i] = s.at(z, nil)
		} else {
			in[i] = s.at(z, w.room(&w.arrays[p.number][i], s.size))
		}
	}
	return in
}

// fill computes slice z of what p stands for, the fields or their changes. It reports whether the
// slice is 0.
func (p *products[T]) fill(w *scratch[T], z int) (empty bool) {
	if p.change != nil {
		p.makeTangent(w, z)
		return false
	}
	return p.make(w, z)
}

// absent reports whether there is nothing of the material in a slice of its arrays.
func (p *products[T]) absent(in [4][]T) bool {
	return !p.vector && in[0][0] == 0 && evenness(in[0]) == 0
}

// make computes slice z of the fields into w.fields. It reports whether they are 0.
func (p *products[T]) make(w *scratch[T], z int) (empty bool) {
	in := p.inputs(w, z)
	if p.absent(in) {
		return true
	}
	if !p.vector {
		w.keepVolume(in[0])
	}
	if p.count == 1 {
		return false
	}
	for lo := 0; lo < w.n; lo += trigBlock {
		hi, f := min(lo+trigBlock, w.n), w.fields
		for k := range f {
			f[k] = f[k][lo:hi]
		}
		p.voxels(w, &f, in, lo, hi)
	}
	return false
}

// voxels computes the fields of voxels lo to hi of a slice of an anisotropic material into f, or points f to them. It leaves out yy
// and yz if f has no memory for yy.
func (p *products[T]) voxels(w *scratch[T], f *[anisotropic][]T, in [4][]T, lo, hi int) {
	if p.vector {
		fromVectors(f, in[0][3*lo:3*hi], in[1][lo:hi])
		return
	}
	p.fromAngles(w, f, in, lo, hi)
}

// keepVolume makes v the field of the volume fraction.
func (w *scratch[T]) keepVolume(v []T) {
	if w.borrow {
		w.fields[fieldV] = v
		return
	}
	copy(w.fields[fieldV], v)
}

// trigBlock is the number of voxels whose sines and cosines, fields and gradients are in memory at once: in the first cache.
const trigBlock = 256

// blocks calls f for parts of a slice, from lo to hi, with the sines and cosines of both angles.
func (w *scratch[T]) blocks(theta, psi []T, f func(lo, hi int, st, ct, sp, cp []T)) {
	for lo := 0; lo < w.n; lo += trigBlock {
		hi := min(lo+trigBlock, w.n)
		a := w.blockOfAngles(hi - lo)
		sinCos(a.sinTheta, a.cosTheta, theta[lo:hi])
		sinCos(a.sinPsi, a.cosPsi, psi[lo:hi])
		f(lo, hi, a.sinTheta, a.cosTheta, a.sinPsi, a.cosPsi)
	}
}

// Rows of memory for blocks: all, and those that toAngles works in.
const (
	blockRows = 10
	angleRows = 4
)

// row returns row k of the memory for blocks, for n voxels.
func (w *scratch[T]) row(k, n int) []T {
	return w.room(&w.block, blockRows*trigBlock)[k*trigBlock:][:n]
}

// within returns voxels lo to hi of arrays that have them, of which a vector takes three.
func (p *products[T]) within(v [4][]T, lo, hi int) [4][]T {
	for i := range v {
		switch {
		case v[i] == nil:
		case p.vector && i == 0:
			v[i] = v[i][3*lo : 3*hi]
		default:
			v[i] = v[i][lo:hi]
		}
	}
	return v
}

// zeros reports whether all elements of v, which has some, are 0.
func zeros[T float](v []T) bool { return v[0] == 0 && uniform(v) }

// fromVectors sets the fields of s = align: pa = |s|^2, v = unaligned + pa.
func fromVectors[T float](f *[anisotropic][]T, align, unaligned []T) {
	for i, u := range unaligned {
		x, y, z := align[3*i], align[3*i+1], align[3*i+2]
		pa := x*x + y*y + z*z
		f[fieldV][i], f[fieldPA][i] = u+pa, pa
		f[fieldXX][i], f[fieldXY][i], f[fieldXZ][i] = x*x, x*y, x*z
		if f[fieldYY] != nil {
			f[fieldYY][i], f[fieldYZ][i] = y*y, y*z
		}
	}
}

// back stores slice z of the gradients of the arrays, given those of the fields in w.fields.
func (p *products[T]) back(w *scratch[T], z int) {
	in, g := p.inputs(w, z), p.targets(w, z)
	if p.count == 1 && !p.vector {
		copy(g[0], w.fields[fieldV])
		p.store(z, g)
		return
	}
	for lo := 0; lo < w.n; lo += trigBlock {
		hi, f := min(lo+trigBlock, w.n), w.fields
		for k := range f {
			f[k] = f[k][lo:hi]
		}
		p.blockBack(w, &f, p.within(in, lo, hi), p.within(g, lo, hi), false)
	}
	p.store(z, g)
}

// targets returns memory for slice z of the gradients, which store keeps.
func (p *products[T]) targets(w *scratch[T], z int) (g [4][]T) {
	for i, s := range p.grad {
		if s.other == nil {
			g[i] = s.target(z, nil)
		} else {
			g[i] = s.target(z, w.room(&w.grads[i], s.size))
		}
	}
	return g
}

func (p *products[T]) store(z int, g [4][]T) {
	for i, s := range p.grad {
		s.put(z, g[i])
	}
}

// blockBack takes the gradients f of the fields of a block of an anisotropic material, of which yy and yz may be nil for 0, to its
// arrays. fresh says whether voxels was called for the block before.
func (p *products[T]) blockBack(w *scratch[T], f *[anisotropic][]T, in, g [4][]T, fresh bool) {
	if p.vector {
		toVectors(f, in[0], g)
	} else {
		w.toAngles(f, in, g, fresh)
	}
}

// toVectors is the transpose of fromVectors.
func toVectors[T float](f *[anisotropic][]T, align []T, g [4][]T) {
	var yy, yz T
	for i, v := range f[fieldV] {
		x, y, z := align[3*i], align[3*i+1], align[3*i+2]
		xx, xy, xz := f[fieldXX][i], f[fieldXY][i], f[fieldXZ][i]
		if f[fieldYY] != nil {
			yy, yz = f[fieldYY][i], f[fieldYZ][i]
		}
		pa := 2 * (v + f[fieldPA][i])
		g[0][3*i] = pa*x + 2*xx*x + xy*y + xz*z
		g[0][3*i+1] = pa*y + xy*x + 2*yy*y + yz*z
		g[0][3*i+2] = pa*z + xz*x + yz*y
		g[1][i] = v
	}
}
