// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package drv

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/euryale-dev/euryale/kernels/cuda/dl"
)

// Handles of the driver. To Go they are plain numbers: the garbage collector does not see the objects behind them.
type (
	Context   uintptr
	Stream    uintptr
	Event     uintptr
	Module    uintptr
	Function  uintptr
	Graph     uintptr
	GraphExec uintptr
	MemPool   uintptr
	DevicePtr uintptr // address in the memory of a device
)

// Driver is the open driver library.
type Driver struct {
	lib     *dl.Library
	address [numSymbols]uintptr
	version int
}

// minimum is the oldest driver for which the required entry points exist.
const minimum = 11000

// Open finds the driver library, looks up its entry points and initialises it. The error wraps
// ErrNoDriver if there is no library, with every file that was tried, ErrDriverTooOld if it lacks
// required entry points, and ErrNoDevice if it sees no GPU.
func Open() (*Driver, error) {
	lib, err := dl.Open(dl.Spec{Name: "CUDA", Sonames: []string{"libcuda.so.1"}, DLLs: []string{"nvcuda.dll"}})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDriver, err)
	}
	d := &Driver{lib: lib}
	var missing []string
	for s := range numSymbols {
		d.address[s] = lib.Symbol(symbols[s].name)
		if d.address[s] == 0 && symbols[s].feature == 0 && !symbols[s].extra {
			missing = append(missing, symbols[s].name)
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("%w: %s lacks %s: install a driver for CUDA 11.0 or newer", ErrDriverTooOld, lib.Path, strings.Join(missing, ", "))
	}
	if err := d.call(cuInit, 0); err != nil {
		return nil, fmt.Errorf("%s cannot be initialised: %w", lib.Path, err)
	}
	v := new(int32)
	if err := d.call(cuDriverGetVersion, uintptr(unsafe.Pointer(v))); err != nil {
		return nil, fmt.Errorf("%s: %w", lib.Path, err)
	}
	if d.version = int(*v); d.version < minimum {
		return nil, fmt.Errorf("%w: %s supports CUDA %d.%d: install one for CUDA 11.0 or newer", ErrDriverTooOld, lib.Path, d.version/1000, d.version%1000/10)
	}
	return d, nil
}

// Path returns the path of the file that was opened, or the name that the system's loader resolved.
func (d *Driver) Path() string { return d.lib.Path }

// Version returns the newest CUDA version that the driver supports, as 1000*major + 10*minor.
func (d *Driver) Version() int { return d.version }

// Has reports whether the driver has all entry points of a feature.
func (d *Driver) Has(f Feature) bool {
	if f == FeatureUUID {
		return d.address[cuDeviceGetUUID2] != 0 || d.address[cuDeviceGetUUID] != 0
	}
	for s := range numSymbols {
		if symbols[s].feature == f && d.address[s] == 0 {
			return false
		}
	}
	return true
}

// call calls an entry point with scalars and addresses. Go pointers are written as
// uintptr(unsafe.Pointer(p)) in the call expression.
//
//go:uintptrescapes
func (d *Driver) call(s symbol, args ...uintptr) error {
	if d.address[s] == 0 {
		return fmt.Errorf("%w: %s lacks %s: install a newer driver", ErrUnsupported, d.lib.Path, symbols[s].name)
	}
	if r := Result(int32(dl.Call(d.address[s], args...))); r != Success {
		return d.errorOf(s, r)
	}
	return nil
}

// slots are arguments of calls that happen once per launch or more often; they are reused, so that
// such a call allocates nothing. They hold scalars and addresses of pinned memory only.
type slots [11]uintptr

var freeSlots = sync.Pool{New: func() any { return new(slots) }}

// hot calls a required entry point with reused arguments.
func (d *Driver) hot(s symbol, a *slots, n int) Result {
	r := Result(int32(dl.Call(d.address[s], a[:n]...)))
	freeSlots.Put(a)
	return r
}

func (d *Driver) hot1(s symbol, x uintptr) Result {
	a := freeSlots.Get().(*slots)
	a[0] = x
	return d.hot(s, a, 1)
}

func (d *Driver) hot2(s symbol, x, y uintptr) Result {
	a := freeSlots.Get().(*slots)
	a[0], a[1] = x, y
	return d.hot(s, a, 2)
}

func (d *Driver) hot4(s symbol, x, y, z, w uintptr) Result {
	a := freeSlots.Get().(*slots)
	a[0], a[1], a[2], a[3] = x, y, z, w
	return d.hot(s, a, 4)
}

// Enter ties the calling goroutine to its thread and makes a context current on it; Leave undoes
// the first. Because only primary contexts are used, a thread may still have the context of an
// earlier goroutine, so every use must call Enter. If Enter fails, the goroutine is not tied.
func (d *Driver) Enter(c Context) error {
	runtime.LockOSThread()
	if r := d.hot1(cuCtxSetCurrent, uintptr(c)); r != Success {
		runtime.UnlockOSThread()
		return d.errorOf(cuCtxSetCurrent, r)
	}
	return nil
}

// Leave unties the goroutine from its thread.
func (d *Driver) Leave() { runtime.UnlockOSThread() }

// errorText returns the driver's name or sentence for a result.
func (d *Driver) errorText(s symbol, r Result) string {
	out := new(uintptr)
	dl.Call(d.address[s], uintptr(r), uintptr(unsafe.Pointer(out)))
	return dl.Text(*out)
}
