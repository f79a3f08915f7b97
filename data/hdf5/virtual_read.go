// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"fmt"
	"reflect"
)

func (v *virtual) complete() bool { return false }

// read copies the mapped elements of a block from their sources. If a source is missing, the fill
// values stay.
func (v *virtual) read(t *trail, dst []byte, offset, count []uint64) error {
	high := make([]uint64, len(offset))
	for i := range high {
		high[i] = offset[i] + count[i]
	}
	if !t.spend(uint64(len(v.maps)) * costMapping) {
		return v.tooMuch()
	}
	r := virtualRead{virtual: v, trail: t, dst: dst, low: offset, high: high, steps: strides(count, 1)}
	for i := range v.maps {
		if err := r.mapping(&v.maps[i]); err != nil {
			return err
		}
	}
	return nil
}

// virtualRead is the state of reading one block.
type virtualRead struct {
	*virtual
	*trail
	dst       []byte
	low, high []uint64 // corners of the block
	steps     []uint64 // number of elements of dst from one index to the next, along each axis
}

func (r *virtualRead) mapping(m *mapping) error {
	u := m.to.unlimited
	if !m.many {
		if u < 0 && !r.touches(m.to.of(r.d.dims)) {
			return nil
		}
		return r.part(m, m.name(0), m.to)
	}
	along := m.to.axes[u]
	last := along.below(r.high[u])
	for i := along.below(r.low[u]) / along.block; i*along.block < last; i++ {
		to := m.to
		to.axes = append([]slab{}, to.axes...)
		to.axes[u] = slab{along.at(i * along.block), along.block, along.block, along.block}
		if err := r.part(m, m.name(i), to); err != nil {
			return err
		}
	}
	return nil
}

// touches reports whether the block may contain elements of a set.
func (r *virtualRead) touches(e *elementSet) bool {
	l := e.top
	for axis := 0; !e.empty && l != nil; axis++ {
		if l.spans[0].start >= r.high[axis] || l.spans[len(l.spans)-1].end() <= r.low[axis] {
			return false
		}
		if len(l.spans) > 1 {
			break
		}
		l = l.spans[0].below
	}
	return !e.empty
}

// part copies elements from one source.
func (r *virtualRead) part(m *mapping, s Source, to selection) error {
	d, done, err := r.open(s, r.trail)
	defer done()
	if err != nil || d == nil {
		return err
	}
	if err := r.fitsSource(m, d); err != nil {
		return err
	}
	from := m.from
	if u := from.unlimited; u >= 0 && !m.many { // both go as far as the source does
		n := from.axes[u].below(d.dims[u])
		from.axes, to.axes = append([]slab{}, from.axes...), append([]slab{}, to.axes...)
		from.axes[u].n = min(n, from.axes[u].n)
		to.axes[to.unlimited].n = min(n, to.axes[to.unlimited].n)
	}
	a, b := from.of(d.dims), to.of(r.d.dims)
	if a.n != b.n {
		return r.bad(r.at, "the mapping takes %d elements of %s:%s for %d elements", a.n, s.File, s.Path, b.n)
	}
	g, err := r.gather(d)
	if err != nil {
		return err
	}
	at := make([]uint64, len(d.dims))
	err = b.within(r.low, r.high, func(to []uint64, number, n uint64) error {
		place := uint64(0)
		for i, x := range to {
			place += (x - r.low[i]) * r.steps[i]
		}
		for n > 0 {
			k := min(a.locate(number, at), n)
			if err := g.add(place, k, at); err != nil {
				return err
			}
			place, number, n = place+k, number+k, n-k
		}
		return nil
	})
	if err != nil {
		return err
	}
	return g.flush()
}

// gather combines runs of a source into one read, as long as the box around them contains little
// else.
type gather struct {
	*virtualRead
	d       *Dataset
	convert func(dst, src []byte) error
	box     box
	runs    []sourceRun
	next    box      // box with one more run
	at      []uint64 // positions of the runs, one after another
	wanted  uint64   // number of elements in the runs
}

// sourceRun is a sequence of elements that are contiguous both in the source and in dst.
type sourceRun struct{ to, n uint64 }

const (
	gatherBytes = 16 << 20 // size of a box that may contain any amount of other elements, in bytes
	gatherMost  = 1 << 18  // largest number of runs
)

func (r *virtualRead) gather(d *Dataset) (*gather, error) {
	g := &gather{virtualRead: r, d: d}
	var err error
	g.convert, err = between(d, r.d)
	rank := len(d.dims)
	g.box = box{make([]uint64, rank), make([]uint64, rank)}
	g.next = box{make([]uint64, rank), make([]uint64, rank)}
	return g, err
}

// add takes n elements of the source from position at on along its last axis.
func (g *gather) add(to, n uint64, at []uint64) error {
	last := len(at) - 1
	size, fits := uint64(g.d.typ.Size), true
	low, high := g.next.low, g.next.high
	for i, x := range at {
		end := x + 1
		if i == last {
			end = x + n
		}
		if end > g.d.dims[i] {
			return g.bad(g.virtual.at, "the mapping takes element %v and those after it from the source %s:%s, which has the shape %v", at, g.d.file.name, g.d.path, g.d.dims)
		}
		low[i], high[i] = x, end
		if len(g.runs) > 0 {
			low[i], high[i] = min(low[i], g.box.low[i]), max(high[i], g.box.high[i])
		}
		size *= high[i] - low[i]
		fits = fits && size <= 1<<40
	}
	most := max(2*(g.wanted+n)*uint64(g.d.typ.Size), uint64(min(gatherBytes, max(g.MaxBytes/4, 0))))
	if len(g.runs) > 0 && (!fits || size > most || len(g.runs) >= gatherMost) {
		if err := g.flush(); err != nil {
			return err
		}
		return g.add(to, n, at)
	}
	g.box, g.next = g.next, g.box
	g.runs = append(g.runs, sourceRun{to, n})
	g.at = append(g.at, at...)
	g.wanted += n
	return nil
}

// flush reads the box and copies the runs.
func (g *gather) flush() error {
	if len(g.runs) == 0 {
		return nil
	}
	rank := len(g.d.dims)
	count := make([]uint64, rank)
	for i := range count {
		count[i] = g.box.high[i] - g.box.low[i]
	}
	size := uint64(g.d.typ.Size)
	n, _ := product(append(count[:rank:rank], size))
	if !g.spend(n + costMapping) {
		return g.tooMuch()
	}
	raw := make([]byte, n)
	g.depth++
	err := g.d.readWithin(g.trail, raw, g.box.low, count)
	g.depth--
	if err != nil {
		return within(g.d.path, err)
	}
	steps, target := strides(count, size), uint64(g.virtual.d.typ.Size)
	for i, s := range g.runs {
		from := uint64(0)
		for k, x := range g.at[i*rank : (i+1)*rank] {
			from += (x - g.box.low[k]) * steps[k]
		}
		if err := g.convert(g.dst[s.to*target:(s.to+s.n)*target], raw[from:from+s.n*size]); err != nil {
			return err
		}
	}
	g.runs, g.at, g.wanted = g.runs[:0], g.at[:0], 0
	return nil
}

// between returns the function that converts elements of a source to elements of a virtual dataset.
// It may change the bytes of the source.
func between(source, d *Dataset) (func(dst, src []byte) error, error) {
	fail := func(what, try string) error {
		return &FormatError{Format: "hdf5", File: d.file.name, Place: d.path, What: fmt.Sprintf("its elements are %s, but those of the source %s:%s are %s%s",
			d.typ, source.file.name, source.path, source.typ, what), Try: try, Err: ErrUnsupported}
	}
	if reflect.DeepEqual(source.typ, d.typ) {
		if source.file != d.file && d.typ.points() {
			return nil, fail(" and refer to objects of the source", "open the source itself")
		}
		return func(dst, src []byte) error { copy(dst, src); return nil }, nil
	}
	if !source.typ.isNumber() || source.typ.Size > 8 || !d.typ.plain() || d.typ.Class == Float && d.typ.Size < 4 {
		return nil, fail("", "open the source itself, or give the virtual dataset the type of the source")
	}
	return func(dst, src []byte) error { return renumber(dst, d.typ, src, source.typ) }, nil
}

// points reports whether elements refer to places in their file.
func (t *Type) points() bool {
	if t.Class == Vlen || t.Class == Reference {
		return true
	}
	for _, m := range t.Members {
		if m.Type.points() {
			return true
		}
	}
	return t.Base != nil && t.Base.points()
}
