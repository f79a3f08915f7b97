// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/euryale-dev/euryale/kernels/cuda/dl"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// Copies go through page-locked memory: the device reads and writes it while Go goes on, and ordinary
// memory of Go must not be touched by anybody after a call has returned.
const (
	chunkBytes = 4 << 20
	maxChunks  = 16       // 64 MiB
	smallCopy  = 64 << 10 // B; copies up to this size share chunks
)

// chunk is a piece of page-locked memory.
type chunk struct {
	address uintptr
	event   drv.Event // the last copy that uses it
	pending bool      // the event was recorded
	busy    bool      // somebody fills or empties it
	filled  int       // B, of small copies
}

// bytes returns a part of the chunk.
func (c *chunk) bytes(from, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(dl.Pointer(c.address), from)), n)
}

// staging is a ring of chunks, made when they are first needed.
type staging struct {
	d     *Device
	mu    sync.Mutex
	all   []*chunk
	small map[*Stream]*chunk // where the next small copy of a stream goes
	kept  []area             // that was freed, for the next AllocPinned
}

// area is page-locked memory.
type area struct {
	address uintptr
	size    int // B
}

// mostKept is how much of the page-locked memory that was freed is kept at most, in bytes: locking pages takes longer than a copy of them, and two
// blocks of frames fit.
const mostKept = 512 << 20

// acquire returns a chunk that nobody uses, after waiting for one if there are enough.
func (g *staging) acquire(ctx context.Context) (*chunk, error) {
	var got *chunk
	err := poll(ctx, func() (bool, error) {
		err := g.d.do(func() (err error) {
			g.mu.Lock()
			defer g.mu.Unlock()
			got, err = g.find()
			return err
		})
		return got != nil, err
	})
	return got, err
}

// find returns a chunk that nobody uses or a new one, or nil if there are enough.
func (g *staging) find() (*chunk, error) {
	for _, c := range g.all {
		if c.busy {
			continue
		}
		if c.pending {
			done, err := g.d.drv.EventQuery(c.event)
			if err != nil {
				return nil, g.d.check(err, nil)
			}
			if !done {
				continue
			}
		}
		c.busy, c.pending, c.filled = true, false, 0
		return c, nil
	}
	if len(g.all) == maxChunks {
		return g.reclaim()
	}
	c := &chunk{busy: true}
	var err error
	if c.address, err = g.d.drv.HostAlloc(chunkBytes); err != nil {
		return nil, g.d.check(err, nil)
	}
	if c.event, err = g.d.drv.EventCreate(false); err != nil {
		g.d.drv.HostFree(c.address)
		return nil, g.d.check(err, nil)
	}
	g.all = append(g.all, c)
	return c, nil
}

// reclaim takes a chunk from a stream whose small copies have ended, so that any number of streams can share the chunks. It returns nil if
// there is none.
func (g *staging) reclaim() (*chunk, error) {
	for s, c := range g.small {
		if !c.pending { // about to be filled
			continue
		}
		done, err := g.d.drv.EventQuery(c.event)
		if err != nil {
			return nil, g.d.check(err, nil)
		}
		if done {
			delete(g.small, s)
			c.pending, c.filled = false, 0
			return c, nil
		}
	}
	return nil, nil
}

// sent says that a copy which uses the chunk was put on a stream.
func (g *staging) sent(c *chunk, s *Stream) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mark(c, s)
}

// mark records the event of a chunk. If that is not possible it waits: without an event nobody would know
// that a copy still uses the chunk.
func (g *staging) mark(c *chunk, s *Stream) error {
	c.pending = true
	err := g.d.drv.EventRecord(c.event, s.handle)
	if err != nil {
		g.d.drv.StreamSynchronize(s.handle)
	}
	return g.d.check(err, s)
}

// done gives a chunk back to the ring.
func (g *staging) done(c *chunk) {
	g.mu.Lock()
	c.busy = false
	g.mu.Unlock()
}

// sendSmall copies at most smallCopy bytes to the device in the order of a stream. Copies of one
// stream share a chunk, whose event is that of the newest of them.
func (g *staging) sendSmall(ctx context.Context, s *Stream, dst drv.DevicePtr, src []byte) error {
	for {
		sent := false
		err := s.do(func() error {
			g.mu.Lock()
			defer g.mu.Unlock()
			c := g.small[s]
			if c == nil || c.filled+len(src) > chunkBytes {
				return nil
			}
			sent = true
			from := c.filled
			c.filled += (len(src) + 15) / 16 * 16
			copy(c.bytes(from, len(src)), src)
			if err := g.d.drv.CopyInAsync(dst, c.address+uintptr(from), uint64(len(src)), s.handle); err != nil {
				return g.d.check(err, s)
			}
			return g.mark(c, s)
		})
		if sent || err != nil {
			return err
		}
		c, err := g.acquire(ctx)
		if err != nil {
			return err
		}
		g.mu.Lock()
		if g.small == nil {
			g.small = map[*Stream]*chunk{}
		}
		if old := g.small[s]; old != nil {
			old.busy = false
		}
		g.small[s] = c
		g.mu.Unlock()
	}
}

// forget gives back the chunk of a stream that is closed.
func (g *staging) forget(s *Stream) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.small[s]; c != nil {
		c.busy = false
		delete(g.small, s)
	}
}

// free gives everything back to the driver, at the end.
func (g *staging) free() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.all {
		g.d.drv.EventDestroy(c.event)
		g.d.drv.HostFree(c.address)
	}
	g.all, g.small = nil, nil
	g.release()
}

// release gives the memory that is kept back to the driver.
func (g *staging) release() {
	for _, a := range g.kept {
		g.d.drv.HostFree(a.address)
	}
	g.kept = nil
}

// lock returns page-locked memory of some bytes or up to twice as many: the smallest that is kept, or new memory.
func (g *staging) lock(bytes int) (area, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	best := -1
	for i, a := range g.kept {
		if a.size >= bytes && a.size/2 <= bytes && (best < 0 || a.size < g.kept[best].size) {
			best = i
		}
	}
	if best >= 0 {
		a := g.kept[best]
		g.kept = slices.Delete(g.kept, best, best+1)
		return a, nil
	}
	address, err := g.d.drv.HostAlloc(uint64(bytes))
	if err != nil && len(g.kept) > 0 {
		g.release()
		address, err = g.d.drv.HostAlloc(uint64(bytes))
	}
	return area{address, bytes}, g.d.check(err, nil)
}

// unlock keeps memory that nobody uses any more, or gives it back to the driver.
func (g *staging) unlock(a area) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := a.size
	for _, k := range g.kept {
		all += k.size
	}
	if all > mostKept {
		return g.d.check(g.d.drv.HostFree(a.address), nil)
	}
	g.kept = append(g.kept, a)
	return nil
}

// Pinned is page-locked host memory, for transfers that are repeated: copies from and to it skip
// the staging area and run at the full speed of the bus. Page-locked memory is scarce and cannot be
// swapped out.
type Pinned struct {
	d    *Device
	mu   sync.Mutex
	area area
	size int
}

// AllocPinned returns the given number of bytes of page-locked memory, whose contents may be anything. It must be freed with Free, and some of
// what was freed is kept for the next call: Device.Trim gives it back.
func (d *Device) AllocPinned(bytes int) (*Pinned, error) {
	if bytes <= 0 {
		return nil, fmt.Errorf("cuda: cannot allocate %d bytes of page-locked memory: want more than 0", bytes)
	}
	if err := d.refuse("Device.AllocPinned", "allocating would wait for the driver: allocate before the capture"); err != nil {
		return nil, err
	}
	m := &Pinned{d: d, size: bytes}
	err := d.do(func() (err error) {
		m.area, err = d.staging.lock(bytes)
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Bytes returns the memory as a slice, which must not be used after Free.
func (m *Pinned) Bytes() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.area.address == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(dl.Pointer(m.area.address)), m.size)
}

// Free waits for the device, which may still copy, and frees the memory or keeps it for the next AllocPinned.
func (m *Pinned) Free() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.area.address == 0 {
		return nil
	}
	err := m.d.do(func() error {
		if err := m.d.drain(); err != nil {
			return err
		}
		return m.d.staging.unlock(m.area)
	})
	m.area.address = 0
	runtime.KeepAlive(m)
	return err
}
