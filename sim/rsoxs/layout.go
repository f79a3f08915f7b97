// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"math"

	"github.com/euryale-dev/euryale/internal/parallel"
)

// layout says which part of the transform of a real field detectors see.
//
// A slice of the volume has a half spectrum G_z of rows y and columns x. The
// planes p and -p of the transform follow from two sums over slices,
//
//	C_m = sum_z cos(2 pi z m/nz) G_z,  S_m = sum_z sin(2 pi z m/nz) G_z
//	F_m = C_m - i S_m,  F_-m = C_m + i S_m
//
// which are needed only where some detector pixel reads plane m: in one run of
// columns of each row. No three-dimensional spectrum is ever stored.
type layout struct {
	*lattice
	planes   int     // number of values of m
	from, to []int32 // columns [from, to) of each run (row, m)
	base     []int   // number of elements before each run
	size     int     // number of elements in all runs
	cos, sin []float64
	depth    int // number of slices of the volume; if it is collapsed, one mean stands for all
}

// newLayout finds the runs that the views read. depth is the number of slices, which differs from
// the number of planes of l if they are collapsed into one.
func newLayout(l *lattice, views []*view, depth, workers int) *layout {
	y := &layout{lattice: l, planes: l.n[0]/2 + 1, depth: depth}
	runs := l.n[1] * y.planes
	y.from, y.to, y.base = make([]int32, runs), make([]int32, runs), make([]int, runs+1)
	parallel.Do(workers, l.n[1], func(_, row int) {
		for _, v := range views {
			y.mark(v, row)
		}
	})
	y.keepCentre()
	for i := range runs {
		y.base[i+1] = y.base[i] + int(y.to[i]-y.from[i])
	}
	y.size = y.base[runs]
	y.twiddles()
	return y
}

// collapsed reports whether the mean of all slices is transformed.
func (y *layout) collapsed() bool { return y.depth != y.n[0] }

// mark records the elements that the pixels of a half-spectrum row read.
func (y *layout) mark(v *view, row int) {
	for x := range y.columns() {
		pixels, n := y.pixels(row, x)
		for _, p := range pixels[:n] {
			if c, ok := v.cut(p.y, p.x); ok {
				y.need(row, y.plane(c.z), x)
				if c.part > 0 {
					y.need(row, y.plane(c.z+1), x)
				}
			}
		}
	}
}

// plane returns m of the detector's plane z.
func (y *layout) plane(z int) int {
	p := y.index(0, z)
	return min(p, y.n[0]-p)
}

func (y *layout) need(row, m, x int) {
	i := row*y.planes + m
	if y.from[i] == y.to[i] {
		y.from[i], y.to[i] = int32(x), int32(x+1)
		return
	}
	y.from[i], y.to[i] = min(y.from[i], int32(x)), max(y.to[i], int32(x+1))
}

// keepCentre adds the neighbours whose mean replaces the value at q = 0.
func (y *layout) keepCentre() {
	y.need(0, 0, 0)
	for _, c := range y.neighbours() {
		y.need(c.row, c.m, c.x)
	}
}

// neighbour is an element of the half spectrum beside q = 0. The value there
// becomes the mean of the real parts of the neighbours, each standing for two.
type neighbour struct{ row, m, x int }

func (y *layout) neighbours() []neighbour {
	list := []neighbour{{1 % y.n[1], 0, 0}, {0, 0, 1 % y.n[2]}}
	if y.n[0] > 1 {
		list = append(list, neighbour{0, 1, 0})
	}
	return list
}

// pixel is a detector pixel that reads an element of the half spectrum, or its
// conjugate at the opposite frequency.
type pixel struct {
	y, x int
	conj bool
}

// pixels returns the detector pixels that read element (row, x) of the half
// spectrum, and how many they are.
func (y *layout) pixels(row, x int) (list [2]pixel, n int) {
	list[0] = pixel{y: y.index(1, row), x: y.index(2, x)}
	if x == 0 || 2*x == y.n[2] {
		return list, 1
	}
	list[1] = pixel{y: y.index(1, y.n[1]-row), x: y.index(2, y.n[2]-x), conj: true}
	return list, 2
}

// twiddles tabulates the cosines and sines of whole multiples of 2 pi/nz.
func (y *layout) twiddles() {
	n := y.n[0]
	y.cos, y.sin = make([]float64, n), make([]float64, n)
	for i := range n {
		y.sin[i], y.cos[i] = math.Sincos(2 * math.Pi * float64(i) / float64(n))
		if 2*i == n || i == 0 {
			y.sin[i] = 0
		}
	}
}

// twiddle returns the weights of slice z in plane m.
func (y *layout) twiddle(z, m int) (c, s float64) {
	i := z * m % y.n[0]
	return y.cos[i], y.sin[i]
}
