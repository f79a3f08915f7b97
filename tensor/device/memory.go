// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	gt "gorgonia.org/tensor"
)

// hostMemory is a copy in the processor's memory.
type hostMemory []byte

// Uintptr returns the address of the first byte.
func (m hostMemory) Uintptr() uintptr {
	if len(m) == 0 {
		return 0
	}
	return uintptr(unsafe.Pointer(&m[0]))
}

// MemSize returns the size in bytes.
func (m hostMemory) MemSize() uintptr { return uintptr(len(m)) }

// Accessible returns a copy of device memory that Go code can read.
func (e *Engine) Accessible(mem gt.Memory) (gt.Memory, error) {
	b, err := e.at(mem)
	if err != nil {
		return nil, err
	}
	out := make(hostMemory, mem.MemSize())
	return out, e.d.CopyOut(context.Background(), []byte(out), b.buf, int(mem.Uintptr()-b.at))
}

// at returns the block of memory of the device.
func (e *Engine) at(mem gt.Memory) (*block, error) {
	b := e.find(mem.Uintptr(), mem.MemSize())
	if b == nil {
		return nil, fmt.Errorf("%w: it holds no %d bytes at %#x: copy the array with Engine.ToDevice", ErrNotHere, mem.MemSize(), mem.Uintptr())
	}
	return b, nil
}

// Memset sets all elements of the memory to a value. The type of the value must be that of the
// elements.
func (e *Engine) Memset(mem gt.Memory, val interface{}) error {
	b, err := e.at(mem)
	if err != nil {
		return err
	}
	size, bits := 8, uint64(0)
	switch v := val.(type) {
	case float64:
		bits = math.Float64bits(v)
	case float32:
		size, bits = 4, uint64(math.Float32bits(v))
	case int:
		bits = uint64(v)
	case bool:
		if size = 1; v {
			bits = 1
		}
	default:
		return fmt.Errorf("device: memory cannot be set to a %T: pass a float64, float32, int or bool", val)
	}
	return e.k.Fill(e.d.Default(), size, b.buf.At(int(mem.Uintptr()-b.at)), int(mem.MemSize())/size, bits)
}

// Memclr sets all bytes of the memory to 0. Err returns the error if that fails.
func (e *Engine) Memclr(mem gt.Memory) {
	b, err := e.at(mem)
	if err == nil {
		err = e.d.Default().Fill(b.buf, int(mem.Uintptr()-b.at), int(mem.MemSize()), 0)
	}
	if err != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.err == nil {
			e.err = err
		}
	}
}

// Memcpy copies as many bytes as fit both memories. Either may be in the processor's memory.
func (e *Engine) Memcpy(dst, src gt.Memory) error {
	n := min(dst.MemSize(), src.MemSize())
	if n == 0 {
		return nil
	}
	to, from := e.find(dst.Uintptr(), n), e.find(src.Uintptr(), n)
	for _, m := range []struct {
		b   *block
		mem gt.Memory
	}{{to, dst}, {from, src}} {
		if m.b == nil && e.once(m.mem.Uintptr()) {
			return fmt.Errorf("%w: the %d bytes at %#x were released: keep the array until its last use", ErrNotHere, n, m.mem.Uintptr())
		}
	}
	ctx := context.Background()
	switch {
	case to != nil && from != nil:
		return e.d.Default().Copy(to.buf, int(dst.Uintptr()-to.at), from.buf, int(src.Uintptr()-from.at), int(n))
	case to != nil:
		return e.d.CopyIn(ctx, to.buf, int(dst.Uintptr()-to.at), bytesAt(src.Uintptr(), int(n)))
	case from != nil:
		return e.d.CopyOut(ctx, bytesAt(dst.Uintptr(), int(n)), from.buf, int(src.Uintptr()-from.at))
	}
	copy(bytesAt(dst.Uintptr(), int(n)), bytesAt(src.Uintptr(), int(n)))
	return nil
}
