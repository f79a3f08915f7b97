// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"math"
	"unsafe"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// Run executes every job in order.
func (m *Machine[T]) Run() error {
	if m.moved {
		m.rebind()
	}
	w := m.workers[0]
	for i := 0; i < len(m.jobs); i++ {
		j := &m.jobs[i]
		if s := j.straight; s != nil {
			s.code.Run(s.scratch, s.arena, nil)
			i += s.jobs - 1
			continue
		}
		if j.call != nil {
			if err := j.call.run(j.call); err != nil {
				return err
			}
			continue
		}
		b := w.loops[j.index]
		switch {
		case b.Loop.Scalar:
			runScalar(b.scalar)
			continue
		case b.single:
			w.runSingle(b)
			continue
		case b.Loop.Blocks > 1 && m.o.Threads > 1:
			m.shareBlocks(j)
		default:
			w.fillOnce(b)
			for k := range b.Loop.Blocks {
				w.block(b, k)
			}
		}
		if len(b.sums) > 0 {
			b.merge()
		}
	}
	return nil
}

// runSingle runs a loop of one tile whose sums are totals: block and merge without what several tiles need.
func (w *worker[T]) runSingle(b *boundLoop[T]) {
	n := b.Loop.N
	w.fillOnce(b)
	for i := range b.loads {
		w.load(b, &b.loads[i], 0, n)
	}
	for i := range b.ops {
		o := &b.ops[i]
		dst, a := (*T)(o.dst.base), (*T)(o.a.base)
		switch {
		case o.f2 != nil:
			o.f2(dst, a, (*T)(o.b.base), n)
		case o.f1 != nil:
			o.f1(dst, a, n)
		default:
			o.f3(dst, a, (*T)(o.b.base), (*T)(o.c.base), n)
		}
	}
	for i := range b.sums {
		s := &b.sums[i]
		v := 0.0
		if s.dot != nil {
			v = s.dot((*T)(s.a.base), (*T)(s.b.base), n)
		} else {
			v = s.reduce((*T)(s.a.base), n)
		}
		s.out[0] = T(s.combine(s.identity(), v))
	}
}

// Step runs one job, which is a step.
func (m *Machine[T]) Step(job int) error {
	if m.moved {
		m.rebind()
	}
	j := &m.jobs[job]
	if j.call == nil {
		j.call = newCall(m, m.p.Jobs[job].Step, m.mirror.workspace())
	}
	return j.call.run(j.call)
}

// fillOnce repeats single numbers over whole registers.
func (w *worker[T]) fillOnce(b *boundLoop[T]) {
	for i := range b.fills {
		if f := &b.fills[i]; !f.perRow && b.Loop.N > 0 {
			repeatNumber(f.dst[:b.tile], *(*T)(f.from.base))
		}
	}
}

func repeatNumber[T Real](dst []T, v T) {
	for i := range dst {
		dst[i] = v
	}
}

// block runs one independent part of the loop.
func (w *worker[T]) block(b *boundLoop[T], k int) {
	for i := range b.sums {
		b.sums[i].begin(b.job, i, k)
	}
	l := b.Loop
	if l.ByRow {
		w.rowsBlock(b, k)
	} else {
		end := min(l.N, (k+1)*l.PerBlock)
		for pos := k * l.PerBlock; pos < end; pos += b.tile {
			n := min(b.tile, end-pos)
			w.off[1] = uintptr(pos) * unsafe.Sizeof(*new(T))
			w.runTile(b, pos, n)
			for i := range b.sums {
				w.addTile(b, &b.sums[i], pos, n)
			}
		}
	}
	for i := range b.sums {
		if s := &b.sums[i]; s.Kind == compiler.Total {
			b.job.partials[i][k] = s.acc
		}
	}
}

// rowsBlock walks whole rows, so that row operands need only an offset.
func (w *worker[T]) rowsBlock(b *boundLoop[T], k int) {
	l := b.Loop
	outer := l.Dims[:len(l.Dims)-1]
	c := l.Dims[len(l.Dims)-1]
	last := min(l.N/c, (k+1)*l.PerBlock)
	for r := k * l.PerBlock; r < last; r++ {
		w.beginRow(b, r, outer)
		for i := range b.fills {
			if f := &b.fills[i]; f.perRow {
				repeatNumber(f.dst[:min(b.tile, c)], *(*T)(unsafe.Add(f.from.base, w.off[f.from.slot])))
			}
		}
		for j := 0; j < c; j += b.tile {
			w.rowTile(b, r*c, j, min(b.tile, c-j))
		}
		for i := range b.sums {
			if s := &b.sums[i]; s.Kind == compiler.PerRow {
				s.out[r] = T(s.acc)
				s.acc = s.identity()
			}
		}
	}
}

// beginRow finds where row r begins in the operands and the sums.
func (w *worker[T]) beginRow(b *boundLoop[T], r int, outer []int) {
	size := unsafe.Sizeof(*new(T))
	off := w.off[2 : 2+len(b.rowAt)]
	if len(outer) == 1 {
		for i := range off {
			at := r * b.Loop.Rows[i].Strides[0]
			b.rowAt[i], off[i] = at, uintptr(at)*size
		}
		for i := range b.sums {
			s := &b.sums[i]
			s.row = r * s.Strides[0]
		}
		return
	}
	for i := range off {
		b.rowAt[i] = offsetOf(r, outer, b.Loop.Rows[i].Strides)
		off[i] = uintptr(b.rowAt[i]) * size
	}
	for i := range b.sums {
		b.sums[i].row = offsetOf(r, outer, b.sums[i].Strides[:len(outer)])
	}
}

// rowTile runs n elements from column j of the row that begins at element row.
func (w *worker[T]) rowTile(b *boundLoop[T], row, j, n int) {
	size := unsafe.Sizeof(*new(T))
	w.off[1] = uintptr(row+j) * size
	if j > 0 {
		for i := range b.Loop.Rows {
			w.off[2+i] = uintptr(b.rowAt[i]+j*b.Loop.Rows[i].Step) * size
		}
	}
	w.runTile(b, row+j, n)
	for i := range b.sums {
		w.addRowTile(&b.sums[i], j, n)
	}
}

// offsetOf returns the offset of row r among outer axes.
func offsetOf(r int, outer, strides []int) int {
	o := 0
	for d := len(outer) - 1; d > 0; d-- {
		q := r / outer[d]
		o += (r - q*outer[d]) * strides[d]
		r = q
	}
	if len(outer) > 0 {
		o += r * strides[0]
	}
	return o
}

// runTile runs the operations on n elements from pos on.
func (w *worker[T]) runTile(b *boundLoop[T], pos, n int) {
	for i := range b.loads {
		w.load(b, &b.loads[i], pos, n)
	}
	off := w.off
	for i := range b.ops {
		o := &b.ops[i]
		dst := (*T)(unsafe.Add(o.dst.base, off[o.dst.slot]))
		a := (*T)(unsafe.Add(o.a.base, off[o.a.slot]))
		switch {
		case o.f2 != nil:
			o.f2(dst, a, (*T)(unsafe.Add(o.b.base, off[o.b.slot])), n)
		case o.f1 != nil:
			o.f1(dst, a, n)
		default:
			o.f3(dst, a, (*T)(unsafe.Add(o.b.base, off[o.b.slot])), (*T)(unsafe.Add(o.c.base, off[o.c.slot])), n)
		}
	}
}

// load gathers n elements from pos on into a register.
func (w *worker[T]) load(b *boundLoop[T], l *boundLoad[T], pos, n int) {
	dims := b.Loop.Dims
	k := len(dims) - 1
	inner, step := dims[k], l.strides[k]
	size := unsafe.Sizeof(*new(T))
	row, col := pos/inner, pos%inner
	for i := 0; i < n; {
		at := offsetOf(row, dims[:k], l.strides[:k]) + col*step
		run := min(n-i, inner-col)
		p := unsafe.Add(l.src, at*int(size))
		switch step {
		case 0:
			repeatNumber(l.dst[i:i+run], *(*T)(p))
		case 1:
			copy(l.dst[i:i+run], unsafe.Slice((*T)(p), run))
		default:
			for j := range run {
				l.dst[i+j] = *(*T)(unsafe.Add(p, j*step*int(size)))
			}
		}
		i += run
		row, col = row+1, 0
	}
}

func (s *boundSum[T]) identity() float64 {
	switch s.Op.Code {
	case compiler.Max:
		return math.Inf(-1)
	case compiler.Min:
		return math.Inf(1)
	}
	return 0
}

func (s *boundSum[T]) combine(a, b float64) float64 {
	if s.Op.Code == compiler.Sum {
		return a + b
	}
	return s.Op.F2(a, b)
}

// begin initialises the accumulators of block k.
func (s *boundSum[T]) begin(j *machineJob[T], i, k int) {
	s.acc = s.identity()
	if s.Kind == compiler.Scattered {
		s.part = s.out[:s.Size]
		if j.parts[i] != nil {
			s.part = j.parts[i][k*s.Size : (k+1)*s.Size]
		}
		if s.acc == 0 {
			clear(s.part)
		} else {
			repeatNumber(s.part, T(s.acc))
		}
	}
}

// value reduces a whole tile.
func (w *worker[T]) value(s *boundSum[T], n int) float64 {
	a := (*T)(unsafe.Add(s.a.base, w.off[s.a.slot]))
	if s.dot != nil {
		return s.dot(a, (*T)(unsafe.Add(s.b.base, w.off[s.b.slot])), n)
	}
	return s.reduce(a, n)
}

// addTile adds n elements from pos on, in a loop that ignores rows.
func (w *worker[T]) addTile(b *boundLoop[T], s *boundSum[T], pos, n int) {
	if s.Kind == compiler.Total {
		s.acc = s.combine(s.acc, w.value(s, n))
		return
	}
	x := unsafe.Slice((*T)(unsafe.Add(s.a.base, w.off[s.a.slot])), n)
	dims := b.Loop.Dims
	k := len(dims) - 1
	inner, step := dims[k], s.Strides[k]
	row, col := pos/inner, pos%inner
	for i := 0; i < n; {
		at := offsetOf(row, dims[:k], s.Strides[:k]) + col*step
		run := min(n-i, inner-col)
		s.scatter(x[i:i+run], at, step)
		i += run
		row, col = row+1, 0
	}
}

// scatter adds x to elements at, at+step, ... of the block's part.
func (s *boundSum[T]) scatter(x []T, at, step int) {
	switch {
	case s.Op.Code != compiler.Sum:
		for i, v := range x {
			p := &s.part[at+i*step]
			*p = T(s.Op.F2(float64(*p), float64(v)))
		}
	case step == 0:
		t := 0.0
		for _, v := range x {
			t += float64(v)
		}
		s.part[at] += T(t)
	default:
		for i, v := range x {
			s.part[at+i*step] += v
		}
	}
}

// addRowTile adds n elements from column j of a row on.
func (w *worker[T]) addRowTile(s *boundSum[T], j, n int) {
	a := (*T)(unsafe.Add(s.a.base, w.off[s.a.slot]))
	if s.Kind != compiler.Scattered {
		s.acc = s.combine(s.acc, w.value(s, n))
		return
	}
	switch step := s.Strides[len(s.Strides)-1]; {
	case step == 0:
		s.part[s.row] = T(s.combine(float64(s.part[s.row]), w.value(s, n)))
	case s.fma != nil:
		p := &s.part[s.row+j]
		s.fma(p, a, (*T)(unsafe.Add(s.b.base, w.off[s.b.slot])), p, n)
	case step == 1:
		p := &s.part[s.row+j]
		s.merge(p, p, a, n)
	default:
		s.scatter(unsafe.Slice(a, n), s.row+j*step, step)
	}
}

// merge combines the parts of all blocks, in their order.
func (b *boundLoop[T]) merge() {
	for i := range b.sums {
		s := &b.sums[i]
		switch {
		case s.Kind == compiler.Total:
			acc := s.identity()
			for _, v := range b.job.partials[i] {
				acc = s.combine(acc, v)
			}
			s.out[0] = T(acc)
		case s.Kind == compiler.Scattered && b.job.parts[i] != nil:
			parts := b.job.parts[i]
			copy(s.out[:s.Size], parts)
			for k := 1; k < b.Loop.Blocks; k++ {
				s.merge(&s.out[0], &s.out[0], &parts[k*s.Size], s.Size)
			}
		}
	}
}
