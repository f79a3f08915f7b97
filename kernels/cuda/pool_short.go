// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"cmp"
	"errors"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// scrape is what the pool does when the driver has no memory left, from the cheapest to the dearest:
// blocks whose work is done, slabs that nobody uses, buffers that nobody refers to, the driver's pool.
// Then it tries once more, in the end for no more than was asked for.
func (p *pool) scrape(size uint64, s *Stream, cause error) (*block, error) {
	p.stats.Retries++
	p.reclaim()
	p.discardIdle()
	if b, err := p.obtain(size, s); !errors.Is(err, drv.OutOfMemory) {
		return b, err
	}
	for range 2 {
		collect()
		p.drainForgotten()
	}
	p.discardIdle()
	if p.kind == Async {
		p.d.drain()
		p.stats.DriverCalls++
		p.d.check(p.d.drv.PoolTrim(p.async, 0), nil)
	}
	b, err := p.obtain(size, s)
	if errors.Is(err, drv.OutOfMemory) && p.kind == Caching {
		b, err = p.grow(size, size, s)
	}
	if errors.Is(err, drv.OutOfMemory) {
		err = p.exhausted(size, cause)
	}
	return b, err
}

// discardIdle gives slabs that nobody uses back to the driver. Work on their stream may still be under
// way although they are free, so it waits for that first.
func (p *pool) discardIdle() {
	if len(p.waiting) == 0 && !p.anyIdle() {
		return
	}
	if p.d.drain() != nil {
		return
	}
	p.reclaim()
	for s := range maps.Keys(p.slabs) {
		if b := s.first; b.idle && b.next == nil {
			p.remove(b)
			p.discard(s)
		}
	}
}

func (p *pool) anyIdle() bool {
	for s := range p.slabs {
		if s.first.idle && s.first.next == nil {
			return true
		}
	}
	return false
}

// collect runs the collector and waits for the cleanups that it found, a tenth of a second at most.
func collect() {
	done := make(chan struct{})
	probe := new([16]int64)
	runtime.AddCleanup(probe, func(c chan struct{}) { close(c) }, done)
	runtime.GC()
	select {
	case <-done:
	case <-time.After(100 * time.Millisecond):
	}
}

// exhausted describes the memory when there is no more.
func (p *pool) exhausted(size uint64, cause error) error {
	e := &OutOfMemoryError{Device: p.d.ordinal, Requested: size, Total: p.d.info.MemoryBytes, Active: p.stats.Active, Cause: cause}
	e.Free, e.Total, _ = p.d.drv.MemInfo()
	st := p.snapshot()
	e.Cached, e.LargestFree = st.Cached, st.LargestFree
	byTag := map[string]*TagUse{}
	for b := range p.used {
		tag := cmp.Or(b.tag, "untagged")
		if byTag[tag] == nil {
			byTag[tag] = &TagUse{Tag: tag}
		}
		byTag[tag].Bytes += b.size
		byTag[tag].Buffers++
	}
	for _, t := range byTag {
		e.Top = append(e.Top, *t)
	}
	slices.SortFunc(e.Top, func(a, b TagUse) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Tag, b.Tag)) })
	e.Top = e.Top[:min(len(e.Top), 5)]
	return e
}

// Trim waits for the device and returns memory that no buffer uses to the driver, page-locked memory that is kept too.
func (d *Device) Trim() error {
	if err := d.refuse("Device.Trim", "it waits for the device: call it before or after the capture"); err != nil {
		return err
	}
	return d.do(func() error {
		p := d.pool
		p.mu.Lock()
		defer p.mu.Unlock()
		p.drainForgotten()
		if err := d.drain(); err != nil {
			return err
		}
		p.discardIdle()
		d.staging.mu.Lock()
		d.staging.release()
		d.staging.mu.Unlock()
		if p.kind == Async {
			p.stats.DriverCalls++
			return d.check(d.drv.PoolTrim(p.async, 0), nil)
		}
		return nil
	})
}
