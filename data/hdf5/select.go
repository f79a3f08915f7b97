// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"math/bits"
	"sort"
)

// maxExtent bounds the coordinates of a selection, as it does those of a
// dataspace.
const maxExtent = 1 << 48

// slab is a set of evenly spaced runs of indices along one axis: runs of block indices, one every
// stride, n indices in total. The last run may be cut short.
type slab struct{ start, stride, block, n uint64 }

// at returns the i-th index.
func (s slab) at(i uint64) uint64 { return s.start + i/s.block*s.stride + i%s.block }

// below counts the indices smaller than x.
func (s slab) below(x uint64) uint64 {
	if x <= s.start {
		return 0
	}
	x -= s.start
	return min(x/s.stride*s.block+min(x%s.stride, s.block), s.n)
}

// run returns the length of the contiguous run of indices that starts at the i-th.
func (s slab) run(i uint64) uint64 {
	if s.stride == s.block {
		return s.n - i
	}
	return min(s.block-i%s.block, s.n-i)
}

// end returns one more than the last index, or 0 if there are none.
func (s slab) end() uint64 {
	if s.n == 0 {
		return 0
	}
	return s.at(s.n-1) + 1
}

// Kinds of selections, numbered as in the file.
const (
	selectNone   = 0
	selectPoints = 1
	selectBlocks = 2
	selectAll    = 3
)

// selection is a set of elements of a dataspace: all, none, or a hyperslab, which is either a slab
// along each axis or a list of boxes.
type selection struct {
	kind      int
	axes      []slab
	unlimited int         // axis without end; -1 for none
	set       *elementSet // set of the elements in boxes, if axes is nil
	high      []uint64    // one more than the largest indices in the boxes
}

// box is the set of elements from low up to, but not including, high.
type box struct{ low, high []uint64 }

// selection reads a serialized selection.
func (f *File) selection(c *cursor, at uint64) (selection, error) {
	s := selection{kind: int(c.u32()), unlimited: -1}
	version := c.u32()
	switch {
	case c.short:
	case s.kind == selectPoints:
		return s, f.unsupported(at, "map regular blocks (hyperslabs) instead", "the selection consists of single points")
	case s.kind != selectBlocks && version == 1 && (s.kind == selectAll || s.kind == selectNone):
		c.skip(8)
	case s.kind == selectBlocks && version >= 1 && version <= 3:
		return s, f.hyperslab(&s, c, version, at)
	default:
		return s, f.bad(at, "the selection has kind %d and version %d, which are unknown", s.kind, version)
	}
	return s, nil
}

// hyperslab reads the part after kind and version.
func (f *File) hyperslab(s *selection, c *cursor, version uint32, at uint64) error {
	regular, width := version == 2, 4
	if version == 1 {
		c.skip(8)
	} else if regular = c.u8()&1 != 0; version == 2 {
		width = 8
		c.skip(4)
	} else {
		width = c.u8()
	}
	rank := int(c.u32())
	if c.short || rank < 1 || rank > maxRank || width != 2 && width != 4 && width != 8 || version == 2 && !regular {
		return f.bad(at, "the hyperslab has version %d, %d axes and numbers of %d bytes, which is impossible", version, rank, width)
	}
	if regular {
		return f.regular(s, c, rank, width, at)
	}
	n := c.uint(width)
	if n > uint64(c.left()/(2*rank*width)) {
		return f.bad(at, "the hyperslab has %d blocks, but only %d bytes are left", n, c.left())
	}
	var boxes []box
	s.high = make([]uint64, rank)
	numbers := make([]uint64, 2*rank*int(n)) // of all boxes
	for range n {
		b := box{numbers[:rank:rank], numbers[rank : 2*rank : 2*rank]}
		numbers = numbers[2*rank:]
		for i := range rank {
			b.low[i] = c.uint(width)
		}
		for i := range rank {
			b.high[i] = c.uint(width) + 1
			if b.high[i] <= b.low[i] || b.high[i] > maxExtent {
				return f.bad(at, "a block of the hyperslab goes from %d to %d along axis %d", b.low[i], b.high[i]-1, i)
			}
			s.high[i] = max(s.high[i], b.high[i])
		}
		boxes = append(boxes, b)
	}
	if len(boxes) == 0 {
		s.set = &elementSet{empty: true}
		return nil
	}
	left := (4*rank+8)*len(boxes) + 4096
	l, ok := levelOf(boxes, 0, &left)
	switch {
	case left < 0:
		return f.unsupported(at, "map fewer blocks at a time", "the %d blocks of the hyperslab are interleaved", n)
	case !ok:
		return f.bad(at, "the %d blocks of the hyperslab overlap", n)
	}
	s.set = &elementSet{top: l, n: l.n}
	return nil
}

// regular reads start, stride, count and block of each axis.
func (f *File) regular(s *selection, c *cursor, rank, width int, at uint64) error {
	for i := range rank {
		start, stride, count, block := c.uint(width), c.uint(width), c.uint(width), c.uint(width)
		endless := uint64(1)<<(8*width) - 1
		if count == 1 && block != endless {
			stride = max(block, 1)
		}
		if count == endless || block == endless {
			if s.unlimited >= 0 || count == block || count != endless && count != 1 || start >= maxExtent || stride >= maxExtent {
				return f.bad(at, "the hyperslab is unlimited along the axes %d and %d, want at most one", max(s.unlimited, 0), i)
			}
			s.unlimited = i
			if block == endless {
				block, stride = maxExtent, maxExtent
			}
			count = maxExtent / max(stride, 1)
		}
		if start >= maxExtent || stride == 0 || stride > maxExtent || block > maxExtent || count > maxExtent || count > 1 && block > stride {
			return f.bad(at, "the hyperslab begins at %d with %d blocks of %d elements, one every %d, along axis %d, which is impossible", start, count, block, stride, i)
		}
		hi, n := bits.Mul64(count, block)
		if span := (max(count, 1) - 1); hi != 0 || n > maxExtent || s.unlimited != i && (span > maxExtent/stride || start+span*stride+block > maxExtent) {
			return f.bad(at, "the hyperslab has %d blocks of %d elements, one every %d, along axis %d, which is impossible", count, block, stride, i)
		}
		s.axes = append(s.axes, slab{start, stride, max(block, 1), n})
	}
	return nil
}

// rank returns the number of axes, or -1 if any number is possible.
func (s *selection) rank() int {
	switch {
	case s.axes != nil:
		return len(s.axes)
	case s.high != nil:
		return len(s.high)
	}
	return -1
}

// end returns one more than the largest index selected along an axis.
func (s *selection) end(axis int) uint64 {
	if s.axes != nil {
		return s.axes[axis].end()
	}
	return s.high[axis]
}

// of returns the elements selected in an array of shape dims.
func (s *selection) of(dims []uint64) *elementSet {
	switch {
	case s.kind == selectAll:
		axes := make([]slab, len(dims))
		for i, n := range dims {
			axes[i] = slab{0, max(n, 1), max(n, 1), n}
		}
		return setOf(axes)
	case s.axes != nil:
		return setOf(s.axes)
	case s.set != nil:
		return s.set
	}
	return &elementSet{empty: true}
}

// elementSet is a set of elements of an array, numbered in C order: some indices along the first
// axis and, below each of these, a set of the same kind over the remaining axes.
type elementSet struct {
	empty bool
	top   *level // first axis; nil for the single element of a scalar
	n     uint64
}

type level struct {
	spans []levelSpan // spans in order, which do not overlap
	n     uint64      // number of elements, at most 2^62
}

type levelSpan struct {
	slab
	below  *level // set along the next axis; nil on the last axis
	each   uint64 // number of elements below one index
	before uint64 // number of elements in the spans before
}

func setOf(axes []slab) *elementSet {
	var below *level
	each := uint64(1)
	for i := len(axes) - 1; i >= 0; i-- {
		n, ok := product([]uint64{axes[i].n, each})
		if !ok {
			n = 1 << 62
		}
		below = &level{[]levelSpan{{axes[i], below, each, 0}}, n}
		each = n
	}
	return &elementSet{empty: each == 0, top: below, n: each}
}

// levelOf arranges boxes along the given axis; ok is false if they overlap. It stops when left is
// used up. It reorders boxes.
func levelOf(boxes []box, axis int, left *int) (l *level, ok bool) {
	var cuts []uint64
	for _, b := range boxes {
		cuts = append(cuts, b.low[axis], b.high[axis])
	}
	sort.Slice(cuts, func(i, j int) bool { return cuts[i] < cuts[j] })
	sort.SliceStable(boxes, func(i, j int) bool { return boxes[i].low[axis] < boxes[j].low[axis] })
	l = &level{}
	var active []box
	for i := 0; i+1 < len(cuts); i++ {
		from, to := cuts[i], cuts[i+1]
		if from == to {
			continue
		}
		keep := active[:0]
		for _, b := range active {
			if b.high[axis] > from {
				keep = append(keep, b)
			}
		}
		active = keep
		for len(boxes) > 0 && boxes[0].low[axis] <= from {
			active, boxes = append(active, boxes[0]), boxes[1:]
		}
		if *left -= 1 + len(active); *left < 0 {
			return l, false
		}
		if len(active) == 0 {
			continue
		}
		s := levelSpan{slab: slab{from, to - from, to - from, to - from}, each: 1, before: l.n}
		if axis+1 == len(active[0].low) {
			if len(active) > 1 {
				return l, false
			}
		} else {
			if s.below, ok = levelOf(append([]box{}, active...), axis+1, left); !ok {
				return l, false
			}
			s.each = s.below.n
		}
		n, ok := product([]uint64{s.n, s.each})
		if l.n += n; !ok || l.n > 1<<62 {
			return l, false
		}
		l.spans = append(l.spans, s)
	}
	return l, true
}

// within visits the elements of a block in runs along the last axis: the position and the number of
// the first element of a run, and the length of the run.
func (e *elementSet) within(low, high []uint64, do func(at []uint64, number, n uint64) error) error {
	if e.empty {
		return nil
	}
	if e.top == nil {
		return do(nil, 0, 1)
	}
	return e.top.within(0, low, high, make([]uint64, len(low)), 0, do)
}

func (l *level) within(axis int, low, high, at []uint64, number uint64, do func([]uint64, uint64, uint64) error) error {
	k := sort.Search(len(l.spans), func(i int) bool { return l.spans[i].end() > low[axis] })
	for ; k < len(l.spans) && l.spans[k].start < high[axis]; k++ {
		s := &l.spans[k]
		last := s.slab.below(high[axis])
		for i := s.slab.below(low[axis]); i < last; {
			at[axis] = s.at(i)
			first, n := number+s.before+i*s.each, uint64(1)
			var err error
			if s.below == nil {
				n = min(s.run(i), last-i)
				err = do(at, first, n)
			} else {
				err = s.below.within(axis+1, low, high, at, first, do)
			}
			if err != nil {
				return err
			}
			i += n
		}
	}
	return nil
}

// locate writes the position of element number k into at and returns the length of the contiguous
// run along the last axis that starts there.
func (e *elementSet) locate(k uint64, at []uint64) uint64 {
	run := uint64(1)
	axis := 0
	for l := e.top; l != nil; axis++ {
		s := &l.spans[sort.Search(len(l.spans), func(i int) bool { return l.spans[i].before > k })-1]
		k -= s.before
		i := k / s.each
		at[axis] = s.at(i)
		k -= i * s.each
		run = s.run(i)
		l = s.below
	}
	return run
}
