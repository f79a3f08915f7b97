// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// Dim is a number of blocks or threads along up to three axes. A 0 along Y or Z means 1.
type Dim struct{ X, Y, Z int }

// Blocks returns the grid of blocks of the given number of threads that covers n elements. It is
// empty if n is 0.
func Blocks(n, threads int) Dim { return Dim{X: (n + threads - 1) / threads} }

func (g Dim) axes() [3]int { return [3]int{g.X, max(g.Y, 1), max(g.Z, 1)} }

// Launch starts the kernel on a stream. Arguments are *Buffer, Part, nil for a null pointer,
// numbers of fixed size (int32, float64 and so on; a Go int is refused, as C has none), and []byte
// for a struct by value in the layout of C. Their number and sizes are checked if the driver
// reports them. An empty grid does nothing.
//
// The error reports a wrong geometry, wrong arguments or a failed start. Errors inside the kernel
// are reported by a later call, or by this one if the device is Synchronous.
func (f *Function) Launch(s *Stream, grid, block Dim, shared int, args ...any) error {
	d := f.m.d
	p := d.blocks.get()
	defer d.blocks.put(p)
	if err := f.fill(p, s, grid, args); err != nil {
		return err
	}
	err := f.launch(s, grid, block, shared, p)
	runtime.KeepAlive(args)
	return err
}

// launch checks the geometry and starts the kernel.
func (f *Function) launch(s *Stream, grid, block Dim, shared int, p *drv.Parameters) error {
	d := f.m.d
	g, b := grid.axes(), block.axes()
	if g[0] == 0 && grid.Y >= 0 && grid.Z >= 0 {
		return nil
	}
	if err := f.geometry(g, b, shared); err != nil {
		return err
	}
	if s.d != d {
		return fmt.Errorf("%w: kernel %s is on device %d, but stream %s is on device %d: use a stream of the kernel's device", ErrArgument, f.name, d.ordinal, s.name, s.d.ordinal)
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	if err := s.usable(); err != nil {
		return err
	}
	if err := f.allowShared(shared); err != nil {
		return err
	}
	info := d.launches.add(s, LaunchInfo{Kernel: f.name, Grid: g, Block: b, Shared: shared, Stream: s.name})
	span := d.profile.begin(s)
	if err := d.drv.Launch(f.handle, g, b, shared, s.handle, p); err != nil {
		return launchError(d, s, err, info)
	}
	d.profile.endKernel(span, s, f.name)
	if d.wait && s.capture.Load() == nil {
		if err := d.drv.StreamSynchronize(s.handle); err != nil {
			return launchError(d, s, err, info)
		}
		s.synced.Store(info.Serial)
	}
	return nil
}

// launchError names the launch in an error that is certainly its own: if the device was waited for
// after every launch, or the driver did not accept it. A dead context at the start of a launch is the
// fault of an earlier one.
func launchError(d *Device, s *Stream, err error, info LaunchInfo) error {
	var e *drv.Error
	if errors.As(err, &e) && (d.wait || !e.Code.Sticky(true)) {
		e.Launch = &info
	}
	return d.check(err, s)
}

// geometry compares a launch with what the device can do.
func (f *Function) geometry(g, b [3]int, shared int) error {
	i := &f.m.d.info
	threads := b[0] * b[1] * b[2]
	for k, axis := range "XYZ" {
		if b[k] < 1 || b[k] > i.MaxBlock[k] {
			return fmt.Errorf("%w: %s has a block of %dx%dx%d threads: along %c a block must have 1 to %d", ErrGeometry, f.name, b[0], b[1], b[2], axis, i.MaxBlock[k])
		}
		if g[k] < 1 || g[k] > i.MaxGrid[k] {
			return fmt.Errorf("%w: %s has a grid of %dx%dx%d blocks: along %c a grid must have 1 to %d; put long axes on X", ErrGeometry, f.name, g[0], g[1], g[2], axis, i.MaxGrid[k])
		}
	}
	if limit := min(i.MaxThreads, f.maxThreads); threads > limit {
		return fmt.Errorf("%w: %s has a block of %dx%dx%d, %d threads: use at most %d", ErrGeometry, f.name, b[0], b[1], b[2], threads, limit)
	}
	if shared < 0 || shared > i.SharedOptin-f.shared {
		return fmt.Errorf("%w: %s asks for %d B of dynamic shared memory, but a block has %d B, of which the kernel itself uses %d B: use smaller tiles", ErrGeometry, f.name, shared, i.SharedOptin, f.shared)
	}
	return nil
}

// allowShared opts in to more dynamic shared memory than kernels get without asking.
func (f *Function) allowShared(shared int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if shared <= f.dynamic {
		return nil
	}
	d := f.m.d
	if err := d.drv.FunctionSet(f.handle, drv.FunctionDynamic, shared); err != nil {
		return d.check(err, nil)
	}
	f.dynamic = shared
	return nil
}

// fill writes the arguments into a parameter block.
func (f *Function) fill(p *drv.Parameters, s *Stream, grid Dim, args []any) error {
	if f.sizes != nil && len(args) != len(f.sizes) {
		return fmt.Errorf("%w: %s takes %d arguments, but was given %d: pass one for each parameter of the kernel", ErrArgument, f.name, len(f.sizes), len(args))
	}
	for i, a := range args {
		size, err := f.add(p, s, grid, a)
		if err == nil && f.sizes != nil && size != f.sizes[i] {
			err = fmt.Errorf("the argument is a %T of %d B, but the parameter has %d B: convert it to the type that the kernel declares", a, size, f.sizes[i])
		}
		if err != nil {
			return fmt.Errorf("%w %d of %s: %w", ErrArgument, i, f.name, err)
		}
	}
	return nil
}

// addPart appends the address of a buffer, and notes that the launch uses it.
func (f *Function) addPart(p *drv.Parameters, s *Stream, grid Dim, v Part) error {
	d, b := f.m.d, v.Buffer
	if err := b.usable(d, v.Offset, 0); err != nil {
		return err
	}
	if b.b == nil {
		if grid.X != 0 {
			return errors.New("the buffer is empty, but the grid is not: pass nil for a null pointer")
		}
		p.Word(0)
		return nil
	}
	d.pool.usedBy(b.b, s)
	d.keep(b.b)
	p.Word(uint64(b.b.address()) + uint64(v.Offset))
	return nil
}

// add appends one argument and returns its size in bytes.
func (f *Function) add(p *drv.Parameters, s *Stream, grid Dim, a any) (int, error) {
	if raw, ok := a.([]byte); ok {
		if len(raw) == 0 || !p.Room(len(raw)) {
			return 0, fmt.Errorf("the struct has %d B: all parameters together must have 1 to 4096 B", len(raw))
		}
		p.Struct(raw)
		return len(raw), nil
	}
	if !p.Room(8) {
		return 0, fmt.Errorf("a kernel takes at most %d arguments: put several into a struct", drv.MaxParameters)
	}
	switch v := a.(type) {
	case *Buffer:
		if v == nil {
			p.Word(0)
			return 8, nil
		}
		return 8, f.addPart(p, s, grid, Part{v, 0})
	case Part:
		if v.Buffer == nil {
			return 0, errors.New("the Part has no buffer: pass nil for a null pointer")
		}
		return 8, f.addPart(p, s, grid, v)
	case nil:
		p.Word(0)
		return 8, nil
	case drv.DevicePtr:
		p.Word(uint64(v))
		return 8, nil
	case float64:
		p.Word(math.Float64bits(v))
		return 8, nil
	case float32:
		p.Word(uint64(math.Float32bits(v)))
		return 4, nil
	case int64:
		p.Word(uint64(v))
		return 8, nil
	case uint64:
		p.Word(v)
		return 8, nil
	case int32:
		p.Word(uint64(uint32(v)))
		return 4, nil
	case uint32:
		p.Word(uint64(v))
		return 4, nil
	case int16:
		p.Word(uint64(uint16(v)))
		return 2, nil
	case uint16:
		p.Word(uint64(v))
		return 2, nil
	case int8:
		p.Word(uint64(uint8(v)))
		return 1, nil
	case uint8:
		p.Word(uint64(v))
		return 1, nil
	case bool:
		if v {
			p.Word(1)
		} else {
			p.Word(0)
		}
		return 1, nil
	case int, uint:
		return 0, fmt.Errorf("a Go %T has no fixed size: write int32(n) or int64(n), as the kernel declares it", a)
	}
	return 0, fmt.Errorf("a kernel cannot take a %T: pass a *cuda.Buffer, a number of fixed size, or []byte for a struct", a)
}
