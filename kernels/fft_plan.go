// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "sync"

// fftPlan holds the axes of an FFT in one precision.
type fftPlan[T float] struct {
	k       *fftKernels[T]
	z, y, x int
	batch   bool           // whether planes are independent arrays, so that the first axis is not transformed
	axis    [3]*fftAxis[T] // complex transforms along the three axes
	// transform of the last axis if its rows are transformed one by one, otherwise nil
	long     *fftLong[T]
	realOnce sync.Once
	real     *fftReal[T]
	longReal *fftLongReal[T]
}

func newFFTPlan[T float](k *fftKernels[T], shape [3]int, batch bool) *fftPlan[T] {
	p := &fftPlan[T]{k: k, batch: batch, z: shape[0], y: shape[1], x: shape[2]}
	for i, n := range shape {
		if i == 2 && oneByOne(k, p.z*p.y, n, 1<<14) {
			if p.long = newFFTLong(k, n); p.long != nil {
				break
			}
		}
		for j := range i {
			if shape[j] == n {
				p.axis[i] = p.axis[j]
			}
		}
		if p.axis[i] == nil {
			p.axis[i] = newFFTAxis(k, n)
		}
	}
	return p
}

// oneByOne reports whether rows of n complex numbers are better transformed one by one: if there are
// too few of them to fill a block, or if a block holds more than limit numbers and so outgrows the
// cache.
func oneByOne[T float](k *fftKernels[T], rows, n, limit int) bool {
	if _, rest := fftRadices(n); rest > 1 {
		limit = 1 << 18
	}
	return rows <= k.lanes/2 || 2*k.lanes*n > limit
}

// rows returns the sweep over real rows.
func (p *fftPlan[T]) rows(dst, src []T, dir int) fftSweep[T] {
	p.realOnce.Do(func() {
		if oneByOne(p.k, p.z*p.y, max(1, p.x/2), 1<<16) {
			p.longReal = newFFTLongReal(p.k, p.x)
		}
		if p.longReal == nil {
			p.real = newFFTReal(p.k, p.x)
		}
	})
	return fftSweep[T]{real: p.real, longReal: p.longReal, dst: dst, src: src, lines: p.y, dir: dir}
}

// fftChunk is roughly how many numbers pass through both axes of a plane at once.
const fftChunk = 1 << 16

// complex transforms src into dst; both hold complex numbers as pairs.
func (p *fftPlan[T]) complex(dst, src []T, dir int, t *fftTeam[T], threads int) {
	rows := fftSweep[T]{axis: p.axis[2], long: p.long, dst: dst, src: src, width: 1, lines: p.y, dir: dir}
	p.planes(rows, p.columns(dst, dst, p.x, dir), p.x, t, threads)
	p.depth(dst, dst, p.x, dir, t, threads)
	t.job = fftJob[T]{}
}

// columns returns the sweep along the middle axis, whose rows have width numbers.
func (p *fftPlan[T]) columns(dst, src []T, width, dir int) fftSweep[T] {
	return fftSweep[T]{axis: p.axis[1], dst: dst, src: src, width: width, lines: width, dir: dir, skip: p.y == 1}
}

// planes does two sweeps within each plane: plane by plane, or one sweep after the other if there
// are few planes.
func (p *fftPlan[T]) planes(first, second fftSweep[T], width int, t *fftTeam[T], threads int) {
	if threads <= 1 || p.z >= 4*threads {
		t.job = fftJob[T]{sweeps: [2]fftSweep[T]{first, second}, units: p.z, chunk: max(1, fftChunk/(p.y*width)),
			last: [2]int{first.lines * p.z, second.lines * p.z}}
		t.run(threads)
		return
	}
	t.sweep(first, p.z, p.k.lanes, threads)
	t.sweep(second, p.z, p.k.lanes, threads)
}

// sweep does one sweep of all planes in units of full blocks.
func (t *fftTeam[T]) sweep(w fftSweep[T], planes, lanes, threads int) {
	lines := w.lines * planes
	units := (lines + lanes - 1) / lanes
	w.lines = lanes
	t.job = fftJob[T]{sweeps: [2]fftSweep[T]{w}, units: units, chunk: units, last: [2]int{lines}}
	t.run(threads)
}

// depth transforms along the first axis; planes consist of rows of width numbers.
func (p *fftPlan[T]) depth(dst, src []T, width, dir int, t *fftTeam[T], threads int) {
	if p.z > 1 && !p.batch {
		width *= p.y
		t.sweep(fftSweep[T]{axis: p.axis[0], dst: dst, src: src, width: width, lines: width, dir: dir}, 1, p.k.lanes, threads)
	}
}

// forward transforms the real src into the half spectrum dst.
func (p *fftPlan[T]) forward(dst, src []T, t *fftTeam[T], threads int) {
	width := p.x/2 + 1
	rows := p.rows(dst, src, 0)
	p.planes(rows, p.columns(dst, dst, width, 0), width, t, threads)
	p.depth(dst, dst, width, 0, t, threads)
	t.job = fftJob[T]{}
}

// inverse transforms the half spectrum src into the real dst.
func (p *fftPlan[T]) inverse(dst, src []T, t *fftTeam[T], threads int) {
	width := p.x/2 + 1
	if p.z > 1 && !p.batch || p.y > 1 {
		t.spare = aligned(t.spare, 2*p.z*p.y*width)
	}
	if p.z > 1 && !p.batch {
		p.depth(t.spare, src, width, 1, t, threads)
		src = t.spare
	}
	columns := p.columns(t.spare, src, width, 1)
	if p.y > 1 {
		src = t.spare
	}
	p.planes(columns, p.rows(dst, src, 1), width, t, threads)
	t.job = fftJob[T]{}
}
