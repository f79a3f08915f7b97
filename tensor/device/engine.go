// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"sync"
	"unsafe"
	"weak"

	gt "gorgonia.org/tensor"

	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/basic"
	"github.com/euryale-dev/euryale/tensor"
)

// Engine allocates and computes arrays on one device, in the order of its default stream. It is safe
// for concurrent use.
type Engine struct {
	d *cuda.Device
	k *basic.Kernels

	mu     sync.Mutex
	blocks []*block // by address
	// owned holds the block of every array that is known to have one of its own, nil once it was
	// released.
	owned map[weak.Pointer[gt.Dense]]*block
	past  []span // addresses that blocks had, merged
	err   error  // first failure of a method that cannot return it

	gone      sync.Mutex
	forgotten []*block // of arrays that the collector found unreachable
}

var (
	_ gt.Engine       = (*Engine)(nil)
	_ gt.NonStdEngine = (*Engine)(nil)
)

// block is the memory of one array, which views share.
type block struct {
	buf   *cuda.Buffer
	at    uintptr
	size  uintptr
	owner weak.Pointer[gt.Dense]
	freed bool
}

type span struct{ from, to uintptr }

// ErrNotHere is wrapped by errors about arrays that are not in the memory of the engine's device,
// either because they are in the processor's memory or because they were released.
var ErrNotHere = errors.New("device: the array is not in the memory of the engine's device")

// New returns an engine for a device, which must stay open.
func New(d *cuda.Device) *Engine {
	return &Engine{d: d, k: basic.Open(d), owned: map[weak.Pointer[gt.Dense]]*block{}}
}

// Device returns the device of the engine.
func (e *Engine) Device() *cuda.Device { return e.d }

// String returns the name of the engine's device.
func (e *Engine) String() string { return e.d.String() }

// Err returns and clears the first failure of Memclr, which cannot return an error itself.
func (e *Engine) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := e.err
	e.err = nil
	return err
}

// AllocAccessible reports that Go code cannot read the memory.
func (e *Engine) AllocAccessible() bool { return false }

// NonStdAlloc marks the memory as managed by the engine.
func (e *Engine) NonStdAlloc() {}

// WorksWith reports whether operations take an order as it is; others are copied first.
func (e *Engine) WorksWith(order gt.DataOrder) bool {
	return order.IsRowMajor() && order.IsContiguous() && !order.IsTransposed()
}

// Alloc allocates the given number of bytes on the device.
func (e *Engine) Alloc(size int64) (gt.Memory, error) {
	b, err := e.alloc(int(size))
	if err != nil {
		return nil, err
	}
	return b.buf, nil
}

// alloc allocates a block. If there is no room it asks the collector for arrays that are unreachable.
func (e *Engine) alloc(bytes int) (*block, error) {
	e.drain()
	buf, err := e.d.AllocTagged(bytes, "tensors")
	if errors.Is(err, cuda.ErrOutOfMemory) {
		for range 2 {
			runtime.GC()
			runtime.Gosched() // cleanups run on a goroutine of their own
			e.drain()
		}
		buf, err = e.d.AllocTagged(bytes, "tensors")
	}
	if err != nil {
		return nil, err
	}
	b := &block{buf: buf, at: buf.Uintptr(), size: uintptr(bytes)}
	if b.at == 0 {
		return b, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.index(b.at)
	e.blocks = slices.Insert(e.blocks, i, b)
	e.remember(b)
	return b, nil
}

// index returns the place of the first block at an address or after it.
func (e *Engine) index(at uintptr) int {
	return sort.Search(len(e.blocks), func(i int) bool { return e.blocks[i].at >= at })
}

// remember notes the addresses of a block.
func (e *Engine) remember(b *block) {
	s := span{b.at, b.at + b.size}
	i := sort.Search(len(e.past), func(i int) bool { return e.past[i].to >= s.from })
	j := i
	for ; j < len(e.past) && e.past[j].from <= s.to; j++ {
		s = span{min(s.from, e.past[j].from), max(s.to, e.past[j].to)}
	}
	e.past = slices.Replace(e.past, i, j, s)
}

// find returns the block that holds bytes at an address, nil if none does.
func (e *Engine) find(at, size uintptr) *block {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.index(at + 1)
	if i == 0 {
		return nil
	}
	if b := e.blocks[i-1]; at+size <= b.at+b.size {
		return b
	}
	return nil
}

// once reports whether an address was ever one of the device's.
func (e *Engine) once(at uintptr) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := sort.Search(len(e.past), func(i int) bool { return e.past[i].to > at })
	return i < len(e.past) && e.past[i].from <= at
}

// Free releases memory that Alloc returned. A second Free of the same Memory does nothing, and
// neither does freeing memory that belongs to something else.
func (e *Engine) Free(mem gt.Memory, _ int64) error {
	if mem == nil || mem.MemSize() == 0 {
		return nil
	}
	b := e.find(mem.Uintptr(), 0)
	if buf, ok := mem.(*cuda.Buffer); b == nil || b.at != mem.Uintptr() || ok && buf != b.buf {
		return nil
	}
	e.free(b)
	return nil
}

// free removes a block and gives its memory back. It may be called again.
func (e *Engine) free(b *block) {
	e.mu.Lock()
	if !b.freed {
		b.freed = true
		if i := e.index(b.at); i < len(e.blocks) && e.blocks[i] == b {
			e.blocks = slices.Delete(e.blocks, i, i+1)
		}
		if e.owned[b.owner] == b {
			e.owned[b.owner] = nil
		}
	}
	e.mu.Unlock()
	b.buf.Free()
}

// Release frees the memory of an array at once. Views of the array must not be used afterwards. A
// second Release does nothing.
func (e *Engine) Release(t *gt.Dense) error {
	e.mu.Lock()
	b, known := e.owned[weak.Make(t)]
	e.mu.Unlock()
	switch {
	case known && b == nil:
		return nil
	case known:
		e.free(b)
		return nil
	case t.IsView():
		return fmt.Errorf("device: a view has no memory of its own: release the array that it views")
	}
	o, err := e.operand(t)
	if err == nil && o.block != nil {
		e.free(o.block)
	}
	return err
}

// adopt makes an array the owner of its block: when it becomes unreachable the block is freed. The
// array's earlier block, if Gorgonia has used the array again for another, is freed now.
func (e *Engine) adopt(t *gt.Dense, b *block) {
	w := weak.Make(t)
	e.mu.Lock()
	old := e.owned[w]
	if old == b {
		e.mu.Unlock()
		return
	}
	e.owned[w], b.owner = b, w
	e.mu.Unlock()
	if old != nil {
		e.free(old)
	}
	runtime.AddCleanup(t, e.forget, b)
}

// claim makes an array the owner of a block that has none, which Gorgonia allocated.
func (e *Engine) claim(t *gt.Dense, b *block) {
	e.mu.Lock()
	free := b.owner == weak.Pointer[gt.Dense]{}
	e.mu.Unlock()
	if free {
		e.adopt(t, b)
	}
}

// forget is called by the collector. It only notes the block: the driver is called later.
func (e *Engine) forget(b *block) {
	e.gone.Lock()
	defer e.gone.Unlock()
	e.forgotten = append(e.forgotten, b)
}

// drain frees what was forgotten.
func (e *Engine) drain() {
	e.gone.Lock()
	list := e.forgotten
	e.forgotten = nil
	e.gone.Unlock()
	for _, b := range list {
		e.free(b)
		e.mu.Lock()
		if e.owned[b.owner] == nil {
			delete(e.owned, b.owner)
		}
		e.mu.Unlock()
	}
}

// ToDevice copies an array to the device in row-major order. Views of any layout are accepted.
// Masked arrays, and arrays without elements, with which Gorgonia cannot compute, are errors.
func (e *Engine) ToDevice(t *gt.Dense) (*gt.Dense, error) {
	if t.MemSize() == 0 {
		return nil, fmt.Errorf("device: the array of shape %v has no elements, with which Gorgonia cannot compute: leave it on the host", t.Shape())
	}
	host, err := tensor.FromDense(t)
	if err != nil {
		return nil, err
	}
	dtype := t.Dtype()
	out, b, err := e.make(dtype, t.Shape())
	if err != nil {
		return nil, err
	}
	data := host.Compact().Dense()
	err = e.d.CopyIn(context.Background(), b.buf, 0, bytesAt(data.Uintptr(), int(data.MemSize())))
	runtime.KeepAlive(data)
	return out, err
}

// ToHost copies an array or a view from the device, in row-major order.
func (e *Engine) ToHost(t *gt.Dense) (*gt.Dense, error) {
	o, err := e.operand(t)
	if err != nil {
		return nil, err
	}
	defer o.done()
	out := gt.New(gt.Of(t.Dtype()), gt.WithShape(t.Shape().Clone()...))
	if err := o.flatten(); err != nil {
		return nil, err
	}
	err = e.d.CopyOut(context.Background(), bytesAt(out.Uintptr(), int(out.MemSize())), o.part.Buffer, o.part.Offset)
	runtime.KeepAlive(out)
	return out, err
}

// Slice returns the same view as t.Slice, but the view keeps t alive.
func (e *Engine) Slice(t *gt.Dense, along ...gt.Slice) (*gt.Dense, error) {
	v, err := t.Slice(along...)
	if err != nil {
		return nil, err
	}
	view := v.(*gt.Dense)
	runtime.AddCleanup(view, func(*gt.Dense) {}, t)
	return view, nil
}

// make returns a new array and its block.
func (e *Engine) make(dtype gt.Dtype, shape gt.Shape) (*gt.Dense, *block, error) {
	b, err := e.alloc(max(1, shape.TotalSize()) * int(dtype.Size()))
	if err != nil {
		return nil, nil, err
	}
	t := gt.New(gt.WithEngine(e), gt.Of(dtype), gt.WithShape(shape.Clone()...), gt.FromMemory(b.at, b.size))
	e.adopt(t, b)
	return t, b, nil
}

// bytesAt returns memory of the processor.
func bytesAt(at uintptr, n int) []byte {
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), n)
}
