// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// CopyIn is Stream.CopyIn on the default stream.
func (d *Device) CopyIn(ctx context.Context, dst *Buffer, offset int, src any) error {
	return d.compute.CopyIn(ctx, dst, offset, src)
}

// CopyOut is Stream.CopyOut on the default stream.
func (d *Device) CopyOut(ctx context.Context, dst any, src *Buffer, offset int) error {
	return d.compute.CopyOut(ctx, dst, src, offset)
}

// CopyIn copies a slice of numbers to a buffer, starting at an offset in bytes, in the order of the
// stream. It returns as soon as the slice may be changed, which may be before the device has the
// numbers. With a *Pinned it returns at once, and the memory must not be changed before the stream
// has been synchronised.
func (s *Stream) CopyIn(ctx context.Context, dst *Buffer, offset int, src any) error {
	d := s.d
	if err := d.refuse("CopyIn", "host memory may change before the graph runs again: copy before the capture, or launch a kernel"); err != nil {
		return err
	}
	pinned, raw, err := hostBytes(src)
	if err == nil {
		err = dst.usable(d, offset, len(raw))
	}
	if err == nil {
		err = s.usable()
	}
	if err != nil || len(raw) == 0 {
		return err
	}
	defer runtime.KeepAlive(dst)
	to := dst.b.address() + drv.DevicePtr(offset)
	d.pool.usedBy(dst.b, s)
	d.traffic.send(len(raw))
	span := d.profile.beginCopy(s)
	switch {
	case pinned != nil:
		err = s.do(func() error {
			return d.check(d.drv.CopyInAsync(to, pinned.area.address, uint64(len(raw)), s.handle), s)
		})
	case len(raw) <= smallCopy:
		err = d.staging.sendSmall(ctx, s, to, raw)
	default:
		d.pool.usedBy(dst.b, d.in)
		err = s.sendLarge(ctx, to, raw)
	}
	d.profile.endCopy(span, s, "H2D", len(raw))
	return err
}

// sendLarge copies by chunks on the stream for copies to the device: while one is under way the next
// is filled. What comes later on s waits for the chunks that were sent, also if not all of them were.
func (s *Stream) sendLarge(ctx context.Context, to drv.DevicePtr, src []byte) error {
	d := s.d
	if err := d.do(func() error { return d.in.follow(s) }); err != nil {
		return err
	}
	err := d.sendChunks(ctx, to, src)
	if e := d.do(func() error { return s.follow(d.in) }); err == nil {
		err = e
	}
	return err
}

func (d *Device) sendChunks(ctx context.Context, to drv.DevicePtr, src []byte) error {
	return chunkwise(len(src), func(from, end int) error {
		c, err := d.staging.acquire(ctx)
		if err != nil {
			return err
		}
		defer d.staging.done(c)
		return d.do(func() error { // inside the driver, because Close frees chunks
			copy(c.bytes(0, end-from), src[from:end])
			if err := d.drv.CopyInAsync(to+drv.DevicePtr(from), c.address, uint64(end-from), d.in.handle); err != nil {
				return d.check(err, d.in)
			}
			return d.staging.sent(c, d.in)
		})
	})
}

// chunkwise calls f for pieces of n bytes, each of which fits into a chunk, on a few goroutines: one core copies at a fraction of the
// speed of the bus, and while one waits the others copy. After a failure no other piece begins; of several failures the first in
// order is returned.
func chunkwise(n int, f func(from, end int) error) error {
	const copiers, shortest = 4, 256 << 10
	each := min(max((n/(2*copiers)+4095)&^4095, shortest), chunkBytes)
	errs := make([]error, (n+each-1)/each)
	var failed atomic.Bool
	parallel.Do(copiers, len(errs), func(_, i int) {
		if failed.Load() {
			return
		}
		if errs[i] = f(i*each, min((i+1)*each, n)); errs[i] != nil {
			failed.Store(true)
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// CopyOut copies from a buffer, starting at an offset in bytes, into a slice of numbers or a
// *Pinned. It runs after the work that is on the stream now, and returns when the numbers have
// arrived. If the context is cancelled it returns the context's cause, and the slice may be filled
// only in part.
func (s *Stream) CopyOut(ctx context.Context, dst any, src *Buffer, offset int) error {
	d := s.d
	if err := d.refuse("CopyOut", "it would wait for work that runs only when the graph is launched: call it after the capture"); err != nil {
		return err
	}
	pinned, raw, err := hostBytes(dst)
	if err == nil {
		err = src.usable(d, offset, len(raw))
	}
	if err == nil {
		err = s.usable()
	}
	if err != nil || len(raw) == 0 {
		return err
	}
	defer runtime.KeepAlive(src)
	from := src.b.address() + drv.DevicePtr(offset)
	d.pool.usedBy(src.b, s)
	d.traffic.fetch(len(raw))
	span := d.profile.beginCopy(s)
	switch {
	case pinned != nil:
		err = s.do(func() error {
			return d.check(d.drv.CopyOutAsync(pinned.area.address, from, uint64(len(raw)), s.handle), s)
		})
		d.profile.endCopy(span, s, "D2H", len(raw))
		if err == nil {
			err = s.wait(ctx)
		}
		return err
	case len(raw) <= smallCopy:
		if err = s.wait(ctx); err == nil {
			err = d.do(func() error { return d.check(d.drv.CopyOut(raw, from), s) })
		}
	default:
		d.pool.usedBy(src.b, d.out)
		if err = s.fetchLarge(ctx, raw, from); err == nil {
			d.profile.endCopy(span, d.out, "D2H", len(raw))
		}
		return err
	}
	d.profile.endCopy(span, s, "D2H", len(raw))
	return err
}

// fetchLarge copies by chunks on the stream for copies to the host: while one is emptied others are
// under way.
func (s *Stream) fetchLarge(ctx context.Context, dst []byte, from drv.DevicePtr) error {
	d := s.d
	if err := d.do(func() error { return d.out.follow(s) }); err != nil {
		return err
	}
	return chunkwise(len(dst), func(at, end int) error {
		c, err := d.staging.acquire(ctx)
		if err != nil {
			return err
		}
		defer d.staging.done(c) // its event keeps it until the copy has ended
		var mark drv.Event
		err = d.do(func() (err error) {
			if err = d.drv.CopyOutAsync(c.address, from+drv.DevicePtr(at), uint64(end-at), d.out.handle); err != nil {
				return d.check(err, d.out)
			}
			if err = d.staging.sent(c, d.out); err == nil {
				mark, err = d.out.mark()
			}
			return err
		})
		if err != nil {
			return err
		}
		if err := d.await(ctx, mark, d.out); err != nil {
			return err
		}
		return d.do(func() error {
			copy(dst[at:end], c.bytes(0, end-at))
			return nil
		})
	})
}

// Copy copies n bytes from one buffer to another, in the order of the stream. If the source is on
// another device, the copy waits for the work that is on that device's default stream now.
func (s *Stream) Copy(dst *Buffer, dstOffset int, src *Buffer, srcOffset, n int) error {
	d := s.d
	if err := dst.usable(d, dstOffset, n); err != nil {
		return err
	}
	if err := src.usable(src.d, srcOffset, n); err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	defer runtime.KeepAlive(dst)
	defer runtime.KeepAlive(src)
	to, from := dst.b.address()+drv.DevicePtr(dstOffset), src.b.address()+drv.DevicePtr(srcOffset)
	d.pool.usedBy(dst.b, s)
	d.keep(dst.b)
	if src.d == d {
		d.pool.usedBy(src.b, s)
		d.keep(src.b)
		return s.do(func() error {
			return d.check(d.drv.CopyAsync(to, from, uint64(n), s.handle), s)
		})
	}
	if err := d.refuse("Stream.Copy between devices", "a graph belongs to one device: copy before or after the capture"); err != nil {
		return err
	}
	return s.copyPeer(to, src, from, n)
}

// Fill sets n bytes of a buffer to one value, in the order of the stream.
func (s *Stream) Fill(dst *Buffer, offset, n int, value byte) error {
	d := s.d
	if err := dst.usable(d, offset, n); err != nil || n == 0 {
		return err
	}
	defer runtime.KeepAlive(dst)
	d.pool.usedBy(dst.b, s)
	d.keep(dst.b)
	return s.do(func() error {
		return d.check(d.drv.SetBytesAsync(dst.b.address()+drv.DevicePtr(offset), value, uint64(n), s.handle), s)
	})
}

// hostBytes returns the memory of a slice of numbers, or of page-locked memory.
func hostBytes(v any) (*Pinned, []byte, error) {
	switch v := v.(type) {
	case *Pinned:
		b := v.Bytes()
		if b == nil {
			return nil, nil, fmt.Errorf("%w: the page-locked memory was freed: free it after its last use", ErrClosed)
		}
		return v, b, nil
	case []byte:
		return nil, v, nil
	case []float32:
		return nil, raw(v), nil
	case []float64:
		return nil, raw(v), nil
	case []int32:
		return nil, raw(v), nil
	case []uint32:
		return nil, raw(v), nil
	case []int64:
		return nil, raw(v), nil
	case []uint64:
		return nil, raw(v), nil
	case []int16:
		return nil, raw(v), nil
	case []uint16:
		return nil, raw(v), nil
	case []int8:
		return nil, raw(v), nil
	case []bool:
		return nil, raw(v), nil
	case []complex64:
		return nil, raw(v), nil
	case []complex128:
		return nil, raw(v), nil
	}
	return nil, nil, fmt.Errorf("cuda: cannot copy a %T: pass a slice of numbers of fixed size, or a *cuda.Pinned", v)
}

func raw[T any](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}
