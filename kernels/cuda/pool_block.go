// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// slab is memory that the driver gave, cut into blocks that follow each other.
type slab struct {
	base  drv.DevicePtr
	size  uint64
	small bool
	first *block
}

// block is a piece of a slab: in use, free, or freed and still waited for.
type block struct {
	slab         *slab
	offset, size uint64 // B
	prev, next   *block // neighbours in the slab
	idle         bool   // it is in a list of free blocks
	stream       atomic.Pointer[Stream]
	others       map[*Stream]bool // further streams that use it
	waits        []drv.Event      // what must be done before it is free
	pins         int              // graphs that hold it
	retired      bool             // its buffer was freed
	requested    uint64           // B, as asked for
	tag          string
}

func (b *block) address() drv.DevicePtr { return b.slab.base + drv.DevicePtr(b.offset) }

// freeKey tells lists of free blocks apart: a block is reused on its stream only, and small requests
// do not break up what large ones need.
type freeKey struct {
	stream *Stream
	small  bool
}

func byFit(a, b *block) int {
	return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.address(), b.address()))
}

// take returns the smallest free block that fits, cut to size, or nil.
func (p *pool) take(size uint64, s *Stream, small bool) *block {
	key := freeKey{s, small}
	list := p.idle[key]
	i, _ := slices.BinarySearchFunc(list, size, func(b *block, n uint64) int { return cmp.Or(cmp.Compare(b.size, n), 1) })
	if i == len(list) {
		return nil
	}
	b := list[i]
	p.idle[key] = slices.Delete(list, i, i+1)
	b.idle, b.retired = false, false
	p.split(b, size)
	return b
}

// split cuts a block to size and frees the rest, if that is worth having.
func (p *pool) split(b *block, size uint64) {
	rest := b.size - size
	if rest < quantum || !b.slab.small && rest <= splitLarge {
		return
	}
	r := &block{slab: b.slab, offset: b.offset + size, size: rest, prev: b, next: b.next}
	r.stream.Store(b.stream.Load())
	if r.next != nil {
		r.next.prev = r
	}
	b.next, b.size = r, size
	p.put(r)
}

// put adds a block to the free ones.
func (p *pool) put(b *block) {
	b.idle = true
	key := freeKey{b.stream.Load(), b.slab.small}
	list := p.idle[key]
	i, _ := slices.BinarySearchFunc(list, b, byFit)
	p.idle[key] = slices.Insert(list, i, b)
}

// remove takes a block out of the free ones.
func (p *pool) remove(b *block) {
	key := freeKey{b.stream.Load(), b.slab.small}
	if i, ok := slices.BinarySearchFunc(p.idle[key], b, byFit); ok {
		p.idle[key] = slices.Delete(p.idle[key], i, i+1)
	}
	b.idle = false
}

// join merges a block with its free neighbours and returns what came out of it. All blocks of a slab
// are of one stream.
func (p *pool) join(b *block) *block {
	if n := b.next; n != nil && n.idle {
		p.remove(n)
		b.size += n.size
		b.unlinkNext()
	}
	if q := b.prev; q != nil && q.idle {
		p.remove(q)
		q.size += b.size
		q.unlinkNext()
		return q
	}
	return b
}

func (b *block) unlinkNext() {
	b.next = b.next.next
	if b.next != nil {
		b.next.prev = b
	}
}

// findings takes from the collector's goroutines what nobody refers to any more. It does not call the
// driver, so they never wait.
type findings[T any] struct {
	mu   sync.Mutex
	list []T
}

func (l *findings[T]) add(x T) {
	l.mu.Lock()
	l.list = append(l.list, x)
	l.mu.Unlock()
}

func (l *findings[T]) take() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.list
	l.list = nil
	return all
}
