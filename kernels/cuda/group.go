// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/kernels/cuda/lib"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// Group is several devices of this process that hold copies of one model, or parts of one batch.
// Their arrays are summed and shared by NCCL if it is found, and by copies around a ring otherwise.
// The work is on the devices' default streams.
//
// It has been tested on emulated devices only, never on a machine with several GPUs.
type Group struct {
	devices []*Device

	mu    sync.Mutex
	nccl  lib.NCCL
	comms []lib.Handle
	ring  error // why NCCL is not used; nil if it is
}

// GroupSettings are the settings of a group. The zero value is the default.
type GroupSettings struct {
	// NoNCCL makes the group use the ring even if NCCL is found.
	NoNCCL bool
}

// NewGroup makes a group of open devices, which must stay open until it is closed.
func NewGroup(devices []*Device, o GroupSettings) (*Group, error) {
	if len(devices) == 0 {
		return nil, fmt.Errorf("%w: the group has no devices: pass at least one", ErrArgument)
	}
	ordinals := make([]int, len(devices))
	for i, d := range devices {
		ordinals[i] = d.ordinal
		if slices.Contains(devices[:i], d) {
			return nil, fmt.Errorf("%w: device %d is in the group twice: list each device once", ErrArgument, d.ordinal)
		}
	}
	g := &Group{devices: slices.Clone(devices), ring: errors.New("NoNCCL is set")}
	if !o.NoNCCL {
		if g.nccl, g.ring = lib.OpenNCCL(); g.ring == nil {
			// A library that is found may still fail here, for want of shared memory or of a driver of its age.
			g.ring = g.within(func() (err error) { g.comms, err = g.nccl.InitAll(ordinals); return err })
		}
	}
	return g, nil
}

// String says how the group exchanges numbers and, if it does not use NCCL, why not.
func (g *Group) String() string {
	if g.ring != nil {
		return fmt.Sprintf("%d devices, a ring of copies (NCCL: %v)", len(g.devices), g.ring)
	}
	return fmt.Sprintf("%d devices, %s", len(g.devices), g.nccl)
}

// Close frees everything that the group holds, after the work on the devices' default streams. It
// does not close the devices.
func (g *Group) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	comms := g.comms
	g.comms = nil
	if comms == nil {
		return nil
	}
	return g.within(func() error {
		var all error
		for _, d := range g.devices {
			if err := d.drv.Enter(d.ctx); err != nil {
				all = errors.Join(all, err)
				continue
			}
			all = errors.Join(all, d.check(d.drv.StreamSynchronize(d.compute.handle), d.compute))
			d.drv.Leave()
		}
		for _, c := range comms {
			all = errors.Join(all, g.nccl.Destroy(c))
		}
		return all
	})
}

// within runs f while no device of the group can be closed. They are entered in the order of their
// numbers, so that groups do not wait for each other in a circle.
func (g *Group) within(f func() error) error {
	sorted := slices.Clone(g.devices)
	slices.SortFunc(sorted, func(a, b *Device) int { return cmp.Compare(a.ordinal, b.ordinal) })
	for _, d := range sorted {
		if err := d.enter(); err != nil {
			return err
		}
		defer d.leave()
	}
	return f()
}

// members checks the arrays of a call, one for each device in the group's order.
func (g *Group) members(call string, t Type, n int, parts []Part) error {
	if len(parts) != len(g.devices) {
		return fmt.Errorf("%w: %s was given %d arrays for %d devices: give one for each", ErrArgument, call, len(parts), len(g.devices))
	}
	if n < 0 {
		return fmt.Errorf("%w: %s cannot have %d numbers: want 0 or more", ErrArgument, call, n)
	}
	for i, d := range g.devices {
		if err := d.refuse("Group."+call, "a graph belongs to one device: call it before or after the capture"); err != nil {
			return err
		}
		if parts[i].Buffer == nil {
			return fmt.Errorf("%w: %s: array %d has no buffer: allocate one", ErrArgument, call, i)
		}
		if err := parts[i].Buffer.usable(d, parts[i].Offset, n*t.Size()); err != nil {
			return fmt.Errorf("%s: array %d of %d numbers: %w", call, i, n, err)
		}
		if parts[i].Offset%t.Size() != 0 {
			return fmt.Errorf("%w: %s: array %d begins at byte %d: want a multiple of %d", ErrArgument, call, i, parts[i].Offset, t.Size())
		}
		if b := parts[i].Buffer.b; b != nil {
			d.pool.usedBy(b, d.compute)
		}
	}
	return nil
}

// address returns where an array begins.
func (p Part) address() drv.DevicePtr { return p.Buffer.b.address() + drv.DevicePtr(p.Offset) }

// AllReduce adds n numbers of all devices; every device gets the sums, in place. Arrays are in the
// order of the group's devices. The order of the additions depends on the devices and on n alone,
// so the ring gives the same bits in every run, and the same on all devices; NVIDIA promises the
// same of NCCL for one machine and version. After an error the arrays hold parts of sums.
func (g *Group) AllReduce(t Type, n int, parts ...Part) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.members("AllReduce", t, n, parts); err != nil || n == 0 || len(g.devices) == 1 {
		return err
	}
	defer runtime.KeepAlive(parts)
	if g.ring != nil {
		err := g.ringReduce(t, n, parts)
		if err != nil { // devices may still read each other's arrays
			for _, d := range g.devices {
				d.do(func() error { return d.check(d.drv.StreamSynchronize(d.compute.handle), d.compute) })
			}
		}
		return err
	}
	return g.collective(func(i int) error {
		at := parts[i].address()
		return g.nccl.AllReduce(at, at, n, lib.Type(t), lib.Sum, g.comms[i], g.devices[i].compute.handle)
	})
}

// Broadcast copies n numbers from the device with index root in the group to all devices.
func (g *Group) Broadcast(root int, t Type, n int, parts ...Part) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if root < 0 || root >= len(g.devices) {
		return fmt.Errorf("%w: Broadcast cannot send from device %d of a group of %d: use an index into the group, from 0", ErrArgument, root, len(g.devices))
	}
	if err := g.members("Broadcast", t, n, parts); err != nil || n == 0 || len(g.devices) == 1 {
		return err
	}
	defer runtime.KeepAlive(parts)
	if g.ring == nil {
		return g.collective(func(i int) error {
			at := parts[i].address()
			return g.nccl.Broadcast(at, at, n, lib.Type(t), root, g.comms[i], g.devices[i].compute.handle)
		})
	}
	for i, d := range g.devices {
		if i == root {
			continue
		}
		if err := d.compute.Copy(parts[i].Buffer, parts[i].Offset, parts[root].Buffer, parts[root].Offset, n*t.Size()); err != nil {
			return err
		}
	}
	return nil
}

// collective makes the call of every member as one.
func (g *Group) collective(call func(i int) error) error {
	if g.comms == nil {
		return fmt.Errorf("%w: the group was closed: make a new one", ErrClosed)
	}
	return g.within(func() error {
		if err := g.nccl.GroupStart(); err != nil {
			return err
		}
		var all error
		for i := range g.devices {
			all = errors.Join(all, call(i))
		}
		return errors.Join(all, g.nccl.GroupEnd())
	})
}

// ringReduce sums around a ring. The array is cut into a chunk for each device. Chunk c starts at device
// c and goes from device to device, each adding its own numbers, until it is complete; then the complete
// chunks go around once more.
func (g *Group) ringReduce(t Type, n int, parts []Part) error {
	size := len(g.devices)
	bounds := func(c int) (from, count int) {
		c = (c%size + size) % size
		from = c * n / size
		return from, (c+1)*n/size - from
	}
	add, err := g.adders(t)
	if err != nil {
		return err
	}
	received := make([]*Buffer, size)
	for i, d := range g.devices {
		if received[i], err = d.compute.alloc((n/size+1)*t.Size(), "sums over devices"); err != nil {
			return err
		}
		defer received[i].Free()
	}
	for step := range 2 * (size - 1) {
		adding := step < size-1
		err := g.exchange(func(i, from int) error {
			c := from - step // the chunk that the device before has worked on last
			if !adding {
				c = from + 1 - (step - (size - 1))
			}
			at, count := bounds(c)
			if count == 0 {
				return nil
			}
			s, offset := g.devices[i].compute, drv.DevicePtr(at*t.Size())
			if !adding {
				return s.fetchPeer(parts[i].address()+offset, g.devices[from], parts[from].address()+offset, count*t.Size())
			}
			if err := s.fetchPeer(received[i].b.address(), g.devices[from], parts[from].address()+offset, count*t.Size()); err != nil {
				return err
			}
			mine := parts[i].Buffer.At(parts[i].Offset + at*t.Size())
			return add[i].Launch(s, g.devices[i].Waves(count, 256), Dim{X: 256}, 0, mine, received[i], int64(count))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// exchange lets every device fetch from the one before it: after what that one has done until now, and
// before it does more.
func (g *Group) exchange(fetch func(i, from int) error) error {
	size := len(g.devices)
	before := make([]*Event, size)
	for i, d := range g.devices {
		var err error
		if before[i], err = d.compute.Record(); err != nil {
			return err
		}
	}
	for i, d := range g.devices {
		from := (i + size - 1) % size
		if err := d.compute.Wait(before[from]); err != nil {
			return err
		}
		if err := fetch(i, from); err != nil {
			return err
		}
	}
	for i, d := range g.devices {
		if err := d.compute.waitFor(g.devices[(i+1)%size].compute); err != nil {
			return err
		}
	}
	return nil
}

// adders compiles the kernel x = y + x on every device.
func (g *Group) adders(t Type) ([]*Function, error) {
	text := fmt.Sprintf(`extern "C" __global__ void __launch_bounds__(256) accumulate(%[1]s* x, const %[1]s* y, long long n) {
  long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;
  for (long long i = first; i < n; i += step) x[i] = y[i] + x[i];
}
`, t.C())
	all := make([]*Function, len(g.devices))
	for i, d := range g.devices {
		m, err := d.Compile(rtc.Source{Name: "accumulate.cu", Text: text})
		if err != nil {
			return nil, err
		}
		if all[i], err = m.Function("accumulate"); err != nil {
			return nil, err
		}
	}
	return all, nil
}
