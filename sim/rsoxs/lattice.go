// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import "math"

// lattice is the reciprocal space of a volume.
type lattice struct {
	n    [3]int  // voxels along Z, Y, X; one plane along Z if collapsed
	a    float64 // edge of a voxel in nm
	grid Grid
	qs   [3][]float64 // q of the pixels of each axis in 1/nm
}

func newLattice(n [3]int, a float64, grid Grid) *lattice {
	l := &lattice{n: n, a: a, grid: grid}
	for axis := range l.qs {
		l.qs[axis] = make([]float64, n[axis])
		for m := range l.qs[axis] {
			if axis > 0 || n[0] > 1 {
				l.qs[axis][m] = l.first(axis) + float64(m)*l.step(axis)
			}
		}
	}
	return l
}

// columns returns the columns of the half spectrum of a real slice.
func (l *lattice) columns() int { return l.n[2]/2 + 1 }

// step returns the distance between neighbours along an axis in 1/nm.
func (l *lattice) step(axis int) float64 {
	n := l.n[axis]
	if l.grid == CyRSoXSGrid && n > 1 {
		n--
	}
	return 2 * math.Pi / (l.a * float64(n))
}

// first returns the q of the first pixel of an axis in 1/nm.
func (l *lattice) first(axis int) float64 {
	if l.grid == CyRSoXSGrid {
		return -math.Pi / l.a
	}
	return -float64(l.n[axis]/2) * l.step(axis)
}

// q returns the wavevector transfer of pixel m of an axis in 1/nm.
func (l *lattice) q(axis, m int) float64 { return l.qs[axis][m] }

// index returns the element of the transform behind pixel m of an axis: images are the transform
// with its centre shifted and reflected through it.
func (l *lattice) index(axis, m int) int {
	n := l.n[axis]
	return ((n/2-m)%n + n) % n
}

// Frequencies returns the wavevector transfers that label the n pixels of an
// image axis with voxels of a nm, in 1/nm: 2 pi times NumPy's fftshift(fftfreq(n, a)).
func Frequencies(n int, a float64) []float64 {
	q := make([]float64, n)
	for m := range q {
		q[m] = 2 * math.Pi * float64(m-n/2) / (float64(n) * a)
	}
	return q
}

// view is one beam at one energy.
type view struct {
	*lattice
	*beam
	wave   float64 // wavenumber in 1/nm
	kv     vec     // wavevector in 1/nm
	interp Interpolation

	first0, step0 float64 // q of the first plane along Z and distance of the planes, in 1/nm
}

func newView(l *lattice, b *beam, energy float64, interp Interpolation) *view {
	k := Wavenumber(energy)
	return &view{lattice: l, beam: b, wave: k, kv: scale(k, b.k), interp: interp, first0: l.first(0), step0: l.step(0)}
}

// cut is where a pixel reads the volume: plane z with weight 1-part and, unless part is 0, plane z+1
// with weight part.
type cut struct {
	z    int
	part float64
}

// weights returns the weights of planes z and z+1.
func (c cut) weights() [2]float64 { return [2]float64{1 - c.part, c.part} }

// transfer returns kappa = k + q at pixel (y, x) of plane z, in 1/nm.
func (v *view) transfer(z, y, x int) vec {
	return vec{v.kv[0] + v.q(2, x), v.kv[1] + v.q(1, y), v.kv[2] + v.q(0, z)}
}
