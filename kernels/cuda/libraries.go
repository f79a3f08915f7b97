// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/kernels/cuda/lib"
)

// ErrNoLibrary says that one of NVIDIA's libraries was not found; callers can then use their own
// kernels. The error around it lists what was tried.
var ErrNoLibrary = lib.ErrNotFound

// FindLibraries looks for all of NVIDIA's numerical libraries and reports their versions, or where each
// was looked for. It needs no device.
func FindLibraries() []lib.Found { return lib.Find() }

// Libraries are NVIDIA's numerical libraries on one device: cuBLAS, cuFFT, cuSOLVER and cuDNN. Each
// is opened when it is first needed; a method returns an error that wraps [ErrNoLibrary] if it is
// not there, and a *lib.Error if it refuses a call. Matrices are stored by rows.
//
// Work goes on a stream like that of kernels, and everything is safe for concurrent use. Handles,
// plans and workspaces belong to one stream at a time. A graph takes them over, during its capture,
// from streams that did the same work before, and keeps them until it is closed, so run the work
// once before you capture it.
//
// None of this has been tested on a GPU yet, only with libraries that emulate NVIDIA's.
type Libraries struct {
	d      *Device
	blas   opened[lib.BLAS]
	fft    opened[lib.FFT]
	solver opened[lib.Solver]
	dnn    opened[lib.DNN]

	returned findings[*capture] // graphs and captures that ended

	mu      sync.Mutex
	bound   map[binding]*tool
	idle    map[any][]*tool
	touched []*tool // by the call that is being made
	serial  uint64
}

// opened is a library that is looked for once.
type opened[T any] struct {
	once sync.Once
	lib  T
	err  error
}

func (o *opened[T]) get(open func() (T, error)) (T, error) {
	o.once.Do(func() { o.lib, o.err = open() })
	return o.lib, o.err
}

func newLibraries(d *Device) *Libraries {
	return &Libraries{d: d, bound: map[binding]*tool{}, idle: map[any][]*tool{}}
}

// Libraries returns NVIDIA's libraries for the device. It opens none of them.
func (d *Device) Libraries() *Libraries { return d.libraries }

// HasBLAS reports whether cuBLAS is there.
func (l *Libraries) HasBLAS() bool {
	_, err := l.blas.get(lib.OpenBLAS)
	return err == nil
}

// HasFFT reports whether cuFFT is there.
func (l *Libraries) HasFFT() bool {
	_, err := l.fft.get(lib.OpenFFT)
	return err == nil
}

// HasDNN reports whether cuDNN is there.
func (l *Libraries) HasDNN() bool {
	_, err := l.dnn.get(lib.OpenDNN)
	return err == nil
}

// HasSolver reports whether cuSOLVER is there.
func (l *Libraries) HasSolver() bool {
	_, err := l.solver.get(lib.OpenSolver)
	return err == nil
}

// operand is memory that a call uses.
type operand struct {
	name  string
	part  Part
	count int // numbers
	size  int // B, of a number
}

func (o operand) address() drv.DevicePtr {
	if o.part.Buffer == nil || o.part.Buffer.b == nil {
		return 0
	}
	return o.part.Buffer.b.address() + drv.DevicePtr(o.part.Offset)
}

// run checks the memory that a call uses and makes the call while the context is current and nobody
// else calls a library on this device. What it uses counts as used by the stream, or belongs to the
// graph that is captured.
func (l *Libraries) run(s *Stream, name string, operands []operand, f func() error) error {
	d := l.d
	if s.d != d {
		return fmt.Errorf("%w: %s is called on device %d, but stream %s is on device %d: use a stream of the libraries' device", ErrArgument, name, d.ordinal, s.name, s.d.ordinal)
	}
	for _, o := range operands {
		if o.part.Buffer == nil {
			return fmt.Errorf("%w: %s: %s has no buffer: allocate one", ErrArgument, name, o.name)
		}
		if err := o.part.Buffer.usable(d, o.part.Offset, o.count*o.size); err != nil {
			return fmt.Errorf("%s: %s of %d numbers: %w", name, o.name, o.count, err)
		}
		if o.part.Offset%o.size != 0 {
			return fmt.Errorf("%w: %s: %s begins at byte %d: want a multiple of %d", ErrArgument, name, o.name, o.part.Offset, o.size)
		}
	}
	for _, o := range operands {
		if o.part.Buffer.b != nil {
			d.pool.usedBy(o.part.Buffer.b, s)
			d.keep(o.part.Buffer.b)
		}
	}
	err := s.do(func() error { return l.call(s, name, f) })
	runtime.KeepAlive(operands)
	return err
}

// call makes a call as launches of kernels are made: it is listed, timed, and waited for if that is asked.
func (l *Libraries) call(s *Stream, name string, f func() error) error {
	d := l.d
	l.mu.Lock()
	defer l.mu.Unlock()
	info := d.launches.add(s, LaunchInfo{Kernel: name, Stream: s.name})
	span := d.profile.begin(s)
	l.touched = l.touched[:0]
	err := f()
	if e := l.leave(s); err == nil {
		err = e
	}
	if err != nil {
		return launchError(d, s, err, info)
	}
	d.profile.endKernel(span, s, name)
	if d.wait && s.capture.Load() == nil {
		if err := d.drv.StreamSynchronize(s.handle); err != nil {
			return launchError(d, s, err, info)
		}
		s.synced.Store(info.Serial)
	}
	return nil
}

// fits32 returns an error if a library cannot take a number, as its integers have 32 bits.
func fits32(name string, numbers ...int) error {
	for _, n := range numbers {
		if n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("%w: %s was given an extent of %d: want 0 to %d", ErrArgument, name, n, math.MaxInt32)
		}
	}
	return nil
}

// close gives all handles, plans and workspaces back. The device's work is done.
func (l *Libraries) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all error
	for _, t := range l.bound {
		all = errors.Join(all, l.destroy(t))
	}
	for _, list := range l.idle {
		for _, t := range list {
			all = errors.Join(all, l.destroy(t))
		}
	}
	l.bound, l.idle = nil, nil
	return all
}
