// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// Device is an open GPU.
type Device struct {
	sys     *system
	drv     drv.Provider
	ordinal int
	handle  int32
	ctx     drv.Context
	info    Info
	options Settings
	wait    bool // after every launch
	users   int  // guarded by sys.mu

	life   sync.RWMutex // read while a call is inside the driver, written by Close
	closed bool
	lost   atomic.Pointer[LostError]

	pool      *pool
	staging   *staging
	events    eventList
	launches  launchRing
	blocks    parameterList
	captures  captures
	modules   modules
	libraries *Libraries
	peers     peers
	traffic   traffic
	tuned     tuned
	chosen    atomic.Pointer[map[string]int] // values of choices
	profile   *profiler                      // nil unless asked for

	streams          sync.Mutex
	allStreams       map[*Stream]bool
	compute, in, out *Stream
	lanes            [lanes]*Stream
	nextLane         int
}

// openDevice retains the primary context and makes the streams.
func openDevice(s *system, ordinal int, o Settings) (*Device, error) {
	info, handle, err := describe(s.drv, ordinal)
	if err != nil {
		return nil, fmt.Errorf("device %d: %w", ordinal, err)
	}
	d := &Device{sys: s, drv: s.drv, ordinal: ordinal, handle: handle, info: info, options: o, users: 1, allStreams: map[*Stream]bool{}}
	d.wait = o.Synchronous || os.Getenv("EURYALE_CUDA_SYNC") == "1"
	if o.Allocator == Async && !info.SupportsPools {
		return nil, fmt.Errorf("%w: device %d (%s, driver %d.%d) has no memory pools, which the allocator Async needs: use Caching", ErrUnsupported,
			ordinal, info.Name, info.DriverVersion/1000, info.DriverVersion%1000/10)
	}
	if d.ctx, err = s.drv.Retain(handle); err != nil {
		return nil, d.check(err, nil)
	}
	d.pool, d.staging, d.libraries = newPool(d), &staging{d: d}, newLibraries(d)
	if o.Profile {
		d.profile = newProfiler(d)
	}
	err = d.do(func() error {
		for _, s := range []struct {
			to   **Stream
			name string
		}{{&d.compute, "compute"}, {&d.in, "copy in"}, {&d.out, "copy out"}} {
			if *s.to, err = d.newStream(s.name, 0); err != nil {
				return err
			}
			d.list(*s.to)
		}
		return d.pool.start()
	})
	if err != nil {
		d.users = 0
		d.shutdown()
		return nil, err
	}
	return d, nil
}

// Info returns a description of the device.
func (d *Device) Info() Info { return d.info }

// Default returns the stream that the device uses unless another one is named.
func (d *Device) Default() *Stream { return d.compute }

// Ordinal returns the number of the device, counted from 0.
func (d *Device) Ordinal() int { return d.ordinal }

// String returns the name of the device, such as cuda:0.
func (d *Device) String() string { return fmt.Sprintf("cuda:%d", d.ordinal) }

// enter makes the context current on this thread and keeps Close waiting; leave ends that. Exported
// methods enter, functions that they call do not.
func (d *Device) enter() error {
	d.life.RLock()
	var err error
	if lost := d.lost.Load(); lost != nil {
		err = lost
	} else if d.closed {
		err = fmt.Errorf("%w: device %d: open it again", ErrClosed, d.ordinal)
	} else if err = d.drv.Enter(d.ctx); err != nil {
		err = d.check(err, nil)
	}
	if err != nil {
		d.life.RUnlock()
	}
	return err
}

func (d *Device) leave() {
	d.drv.Leave()
	d.life.RUnlock()
}

// do runs f between enter and leave.
func (d *Device) do(f func() error) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	return f()
}

// check completes an error of the driver with what the device knows. An error that kills the context
// marks the device as lost.
func (d *Device) check(err error, s *Stream) error {
	if err == nil {
		return nil
	}
	var e *drv.Error
	if !errors.As(err, &e) || e.Device >= 0 {
		return err
	}
	e.Device = d.ordinal
	if s != nil {
		e.Stream = s.name
	}
	waits := e.Call == "cuLaunchKernel" || e.Call == "cuStreamSynchronize" || e.Call == "cuEventQuery" || e.Call == "cuCtxSynchronize" || e.Call == "cuGraphLaunch"
	if !e.Code.Sticky(waits) {
		return err
	}
	if e.Launch == nil {
		e.Async = true
		e.Recent = d.launches.recent()
	}
	d.lost.CompareAndSwap(nil, &LostError{Device: d.ordinal, Cause: err})
	return d.lost.Load()
}

// MemInfo returns the number of bytes that are free on the device, counting all processes, and the
// total.
func (d *Device) MemInfo() (free, total uint64, err error) {
	err = d.do(func() error {
		var e error
		free, total, e = d.drv.MemInfo()
		return d.check(e, nil)
	})
	return free, total, err
}

// Synchronize waits for all work of the device. If the context is cancelled it returns at once, but
// work that is running goes on, because kernels cannot be stopped.
func (d *Device) Synchronize(ctx context.Context) error {
	if err := d.refuse("Device.Synchronize", "it would wait for work that runs only when the graph is launched: call it after the capture"); err != nil {
		return err
	}
	for _, s := range d.streamList() {
		if s.capture.Load() != nil {
			continue // another goroutine collects a graph on it
		}
		if err := s.wait(ctx); err != nil && !errors.Is(err, ErrClosed) {
			return err
		}
	}
	return nil
}

func (d *Device) streamList() []*Stream {
	d.streams.Lock()
	defer d.streams.Unlock()
	var all []*Stream
	for s := range d.allStreams {
		all = append(all, s)
	}
	return all
}

// drain waits for the streams that no capture holds, without a context. It is for the end of things.
func (d *Device) drain() error {
	for _, s := range d.streamList() {
		if s.capture.Load() != nil {
			continue
		}
		if err := d.drv.StreamSynchronize(s.handle); err != nil {
			return d.check(err, s)
		}
	}
	return nil
}

// Close gives the device back. The last Close waits for the device's work, frees everything that
// belongs to the device, and returns the first failure of that work. Buffers, streams and modules
// must not be used afterwards; their methods return errors.
func (d *Device) Close() error {
	d.sys.mu.Lock()
	defer d.sys.mu.Unlock()
	if d.users == 0 {
		return nil
	}
	if d.users--; d.users > 0 {
		return nil
	}
	delete(d.sys.open, d.ordinal)
	return d.shutdown()
}

// shutdown frees everything. On a lost device it only forgets.
func (d *Device) shutdown() error {
	d.life.Lock()
	defer d.life.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	var err error
	if d.lost.Load() == nil && d.drv.Enter(d.ctx) == nil {
		if err = d.drain(); err == nil {
			err = d.libraries.close()
			d.modules.unload(d)
			d.staging.free()
			d.pool.free()
			for _, s := range d.streamList() {
				d.drv.StreamDestroy(s.handle)
			}
			d.events.destroy(d.drv)
			if d.profile != nil {
				d.profile.free()
			}
		}
		d.drv.Leave()
	}
	d.blocks.free()
	d.drv.Release(d.handle)
	return err
}
