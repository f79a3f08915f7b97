// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"runtime"
	"sync"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// Sizes of the caching allocator, in bytes. Small requests share slabs of 2 MiB and medium ones slabs
// of 20 MiB, so that most are served without the driver; large ones get their own piece.
const (
	quantum     = 512 // everything is a multiple, and aligned to it
	smallLimit  = 1 << 20
	smallSlab   = 2 << 20
	mediumLimit = 10 << 20
	mediumSlab  = 20 << 20
	largeStep   = 2 << 20
	splitLarge  = 1 << 20 // a remainder of at most that stays with a large block
	collectFrom = 64 << 20
)

// pool gives out the memory of a device.
type pool struct {
	d         *Device
	kind      Allocator
	async     drv.MemPool
	forgotten findings[*block]      // buffers that nobody refers to, and the pool still counts
	graphs    findings[*graphState] // graphs likewise

	mu        sync.Mutex
	idle      map[freeKey][]*block // sorted by size, then address
	waiting   []*block             // freed, and still used by other streams
	slabs     map[*slab]bool
	used      map[*block]bool
	live      map[*graphState]bool // graphs that are not closed
	stats     Stats
	collected uint64 // active bytes when the collector was last asked to run
}

func newPool(d *Device) *pool {
	return &pool{d: d, kind: d.options.Allocator, idle: map[freeKey][]*block{}, slabs: map[*slab]bool{}, used: map[*block]bool{}, live: map[*graphState]bool{}}
}

// start makes the driver's pool if that is asked for.
func (p *pool) start() (err error) {
	if p.kind == Async {
		p.async, err = p.d.drv.PoolCreate(p.d.handle)
	}
	return p.d.check(err, nil)
}

// alloc returns a block of at least n bytes.
func (p *pool) alloc(n uint64, s *Stream, tag string) (*block, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drainForgotten()
	p.reclaim()
	size := (n + quantum - 1) / quantum * quantum
	b, err := p.obtain(size, s)
	if errors.Is(err, drv.OutOfMemory) {
		b, err = p.scrape(size, s, err)
	}
	if err != nil {
		return nil, p.d.check(err, s)
	}
	b.requested, b.tag = n, tag
	p.used[b] = true
	p.stats.Allocations++
	p.stats.Active += b.size
	p.stats.PeakActive = max(p.stats.PeakActive, p.stats.Active)
	if p.stats.Active > 2*max(p.collected, collectFrom) {
		// The collector does not see device memory: without this, arrays that nobody refers to
		// would stay until the device is full.
		p.collected = p.stats.Active
		go runtime.GC()
	}
	return b, nil
}

// obtain takes a block from the cache or the driver.
func (p *pool) obtain(size uint64, s *Stream) (*block, error) {
	switch p.kind {
	case Async:
		a, err := p.d.drv.PoolAlloc(size, p.async, s.handle)
		p.stats.DriverCalls++
		if err != nil {
			return nil, err
		}
		b := &block{slab: &slab{base: a, size: size}, size: size}
		b.stream.Store(s)
		return b, nil
	case Direct:
		return p.grow(size, size, s)
	}
	small := size <= smallLimit
	if b := p.take(size, s, small); b != nil {
		return b, nil
	}
	piece := (size + largeStep - 1) / largeStep * largeStep
	if small {
		piece = smallSlab
	} else if size <= mediumLimit {
		piece = mediumSlab
	}
	return p.grow(size, piece, s)
}

// grow asks the driver for a slab and returns its first block.
func (p *pool) grow(size, piece uint64, s *Stream) (*block, error) {
	p.stats.DriverCalls++
	a, err := p.d.drv.MemAlloc(piece)
	if err != nil {
		return nil, err
	}
	sl := &slab{base: a, size: piece, small: size <= smallLimit}
	p.slabs[sl] = true
	p.stats.Reserved += piece
	p.stats.PeakReserved = max(p.stats.PeakReserved, p.stats.Reserved)
	b := &block{slab: sl, size: piece}
	b.stream.Store(s)
	sl.first = b
	p.split(b, size)
	return b, nil
}

// release is what Buffer.Free does: the block becomes free once nobody uses it any more.
func (p *pool) release(b *block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drainForgotten()
	p.retire(b)
}

// retire ends the use of a block. While graphs hold it, that is put off.
func (p *pool) retire(b *block) {
	if b.retired = true; b.pins > 0 {
		return
	}
	delete(p.used, b)
	p.stats.Frees++
	p.stats.Active -= b.size
	home := b.stream.Load()
	for s := range b.others {
		if s.done.Load() {
			continue // its work was waited for
		}
		b.waits = append(b.waits, p.marked(s)...)
	}
	b.others = nil
	if p.kind == Async {
		for _, e := range b.waits {
			p.d.check(p.d.drv.StreamWait(home.handle, e), home)
			p.d.events.put(e)
		}
		p.stats.DriverCalls++
		p.d.check(p.d.drv.PoolFree(b.slab.base, home.handle), home)
		return
	}
	if p.kind == Direct {
		b.waits = append(b.waits, p.marked(home)...)
	}
	if len(b.waits) > 0 {
		p.waiting = append(p.waiting, b)
		return
	}
	p.available(b)
}

// marked returns an event of the work that is on a stream, or none after waiting for it if there is no
// event to be had. The device is lost, or the stream closed, if that fails too.
func (p *pool) marked(s *Stream) []drv.Event {
	e, err := s.mark()
	if err == nil {
		return []drv.Event{e}
	}
	if p.d.lost.Load() == nil && !s.done.Load() {
		p.d.check(p.d.drv.StreamSynchronize(s.handle), s)
	}
	return nil
}

// available gives a block that nobody uses back to the cache, or to the driver.
func (p *pool) available(b *block) {
	if p.kind == Direct {
		p.discard(b.slab)
		return
	}
	p.put(p.join(b))
}

// discard gives a slab back to the driver. No work may use it any more.
func (p *pool) discard(s *slab) {
	delete(p.slabs, s)
	p.stats.Reserved -= s.size
	p.stats.DriverCalls++
	p.d.check(p.d.drv.MemFree(s.base), nil)
}

// reclaim makes those waiting blocks available whose work is done.
func (p *pool) reclaim() {
	kept := p.waiting[:0]
	for _, b := range p.waiting {
		for len(b.waits) > 0 {
			e := b.waits[len(b.waits)-1]
			done, err := p.d.drv.EventQuery(e)
			if p.d.check(err, nil); !done {
				break
			}
			p.d.events.put(e)
			b.waits = b.waits[:len(b.waits)-1]
		}
		if len(b.waits) > 0 {
			kept = append(kept, b)
			continue
		}
		p.available(b)
	}
	clear(p.waiting[len(kept):])
	p.waiting = kept
}

// usedBy notes that a stream uses a block.
func (p *pool) usedBy(b *block, s *Stream) {
	if b.stream.Load() == s {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.others == nil {
		b.others = map[*Stream]bool{}
	}
	b.others[s] = true
}

// adopt moves everything of a stream, whose work is done, to another.
func (p *pool) adopt(from, to *Stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, list := range p.idle {
		if key.stream != from {
			continue
		}
		delete(p.idle, key)
		for _, b := range list {
			b.stream.Store(to)
			p.put(b)
		}
	}
	for s := range p.slabs {
		for b := s.first; b != nil; b = b.next {
			b.stream.CompareAndSwap(from, to)
		}
	}
	for b := range p.used {
		b.stream.CompareAndSwap(from, to)
		delete(b.others, from)
	}
}

// pin keeps a block for a graph, unpin ends that.
func (p *pool) pin(b *block) {
	p.mu.Lock()
	b.pins++
	p.mu.Unlock()
}

func (p *pool) unpin(b *block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unpinned(b)
}

func (p *pool) unpinned(b *block) {
	if b.pins--; b.pins == 0 && b.retired {
		p.retire(b)
	}
}

// drainForgotten frees what the collector found.
func (p *pool) drainForgotten() {
	for _, b := range p.forgotten.take() {
		p.retire(b)
	}
	for _, g := range p.graphs.take() {
		p.endGraph(g)
	}
}

// addGraph counts a graph, endGraph gives it and its hold on blocks back.
func (p *pool) addGraph(g *graphState) {
	p.mu.Lock()
	p.live[g] = true
	p.mu.Unlock()
}

func (p *pool) endGraph(g *graphState) error {
	if !p.live[g] {
		return nil
	}
	delete(p.live, g)
	var err error
	if g.exec != 0 {
		err = p.d.check(p.d.drv.GraphExecDestroy(g.exec), nil)
	}
	for b := range g.c.blocks {
		p.unpinned(b)
	}
	p.d.libraries.returned.add(g.c)
	return err
}

// free gives everything back to the driver, at the end.
func (p *pool) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drainForgotten()
	for g := range p.live {
		p.endGraph(g)
	}
	if p.kind == Async {
		for b := range p.used {
			p.d.drv.PoolFree(b.slab.base, p.d.compute.handle)
		}
		p.d.drv.StreamSynchronize(p.d.compute.handle)
		if p.async != 0 {
			p.d.drv.PoolDestroy(p.async)
		}
	}
	for s := range p.slabs {
		p.d.drv.MemFree(s.base)
	}
	p.slabs, p.idle, p.waiting, p.used = nil, nil, nil, nil
}
