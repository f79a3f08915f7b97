// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gpubench

import "github.com/euryale-dev/euryale/internal/roofline"

// launch declares the work of the map of package basic that a row launches: each thread loads and stores packs of four numbers, in strides of the
// grid.
func (r row) launch(card roofline.Card) roofline.Launch {
	packs := float64(r.n) / 4
	l := roofline.Launch{Kernel: r.kernel, Grid: min((r.n/4+255)/256, 32*card.Multiprocessors), Block: 256}
	for i := range r.inputs + 1 {
		l.Work.Use(i+1, 4*float64(r.n), i == r.inputs)
	}
	l.Work.Sectors = l.Work.Bytes() / 32
	l.Work.Float32, l.Work.Integers, l.Work.Accesses = float64(r.n), 10*packs, float64(r.inputs+1)*packs
	l.Work.Trips = max(1, packs/float64(max(1, l.Grid)*l.Block))
	return l
}

// product declares the work of the product of square matrices of package basic, which is cut as that of a program is: blocks of 256 threads for tiles
// of 64 or of 128 rows, strips of 8 terms.
func (r row) product() []roofline.Launch {
	size := 64
	if tiles := (r.n + 127) / 128; tiles*tiles >= 64 {
		size = 128
	}
	side := (r.n + size - 1) / size
	parts := max(1, min(128/(side*side), r.n/256))
	jobs, n := side*side*parts, float64(r.n)
	strips := float64((r.n/parts + 7) / 8)
	each := float64(size / 32) // elements of each strip that a thread fetches
	threads := float64(jobs*256) * strips
	quads := float64(size/64) * 16
	l := roofline.Launch{Kernel: "matmul", Grid: jobs, Block: 256, Shared: 4 * 2 * 2 * 8 * (size + 4)}
	if size == 128 {
		l.Registers = 187
	}
	w := &l.Work
	w.Use(1, 4*n*n, false)
	w.Use(2, 4*n*n, false)
	w.Use(3, 4*n*n*float64(parts), true)
	w.Sectors = threads/32*each*4*2 + n*n*float64(parts)/8
	w.Float32, w.Integers = threads*float64(size*size*8/256), threads*each*2*30
	w.Accesses, w.Conflicts = threads*(quads+4*each), threads/32*(quads/2+each*3)
	w.Trips, w.Serial = strips, strips*420
	if parts == 1 {
		return []roofline.Launch{l}
	}
	sum := roofline.Launch{Kernel: "sum", Grid: (r.n*r.n + 255) / 256, Block: 256}
	sum.Work.Use(3, 4*n*n*float64(parts), false)
	sum.Work.Use(4, 4*n*n, true)
	sum.Work.Sectors = sum.Work.Bytes() / 32
	sum.Work.Accesses, sum.Work.Float64, sum.Work.Integers, sum.Work.Trips = n*n*float64(parts+1), n*n*float64(2*parts), n*n*float64(6*parts+20), 1
	return []roofline.Launch{l, sum}
}
