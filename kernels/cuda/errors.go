// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// Error is a failed call of the driver; errors.Is finds its [Result] in it.
type Error = drv.Error

// Result is a code of the driver. Package drv names all of them.
type Result = drv.Result

// LaunchInfo describes one launch of a kernel.
type LaunchInfo = drv.LaunchInfo

// The kinds of errors, for errors.Is.
var (
	// ErrNoDriver means that no driver library was found.
	ErrNoDriver = drv.ErrNoDriver
	// ErrNoDevice means that the driver sees no GPU, or none with that number.
	ErrNoDevice = drv.ErrNoDevice
	// ErrDriverTooOld means that the driver lacks entry points.
	ErrDriverTooOld = drv.ErrDriverTooOld
	// ErrUnsupported means that this driver or device lacks the feature.
	ErrUnsupported = drv.ErrUnsupported
	ErrOutOfMemory = errors.New("cuda: the device is out of memory")
	ErrDeviceLost  = errors.New("cuda: the device is lost")
	ErrClosed      = errors.New("cuda: the device, stream, graph or buffer is closed")
	ErrCapture     = errors.New("cuda: not possible while a graph is captured")
	ErrGeometry    = errors.New("cuda: invalid launch geometry")
	ErrArgument    = errors.New("cuda: invalid argument")
)

// closing drops the error that says that the device was closed, and what it had with it.
func closing(err error) error {
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

// LostError is the error that every call on a device returns once its context is dead. It unwraps
// to the first cause.
type LostError struct {
	Device int
	Cause  error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("cuda: device %d is lost to this process, which must be started again: %v", e.Device, e.Cause)
}

func (e *LostError) Is(target error) bool { return target == ErrDeviceLost }

func (e *LostError) Unwrap() error { return e.Cause }

// CaptureError says that a call is not possible while the calling goroutine captures a graph.
type CaptureError struct {
	Call   string // name of the call, such as Device.Alloc
	Reason string
}

func (e *CaptureError) Error() string {
	return fmt.Sprintf("cuda: %s cannot be called inside Capture: %s", e.Call, e.Reason)
}

func (e *CaptureError) Is(target error) bool { return target == ErrCapture }

// TagUse is the memory that the buffers with one tag use.
type TagUse struct {
	Tag     string
	Bytes   uint64
	Buffers int
}

// OutOfMemoryError says that a device has no room for a buffer, after everything that could be
// freed was freed. The device can still be used.
type OutOfMemoryError struct {
	Device      int
	Requested   uint64   // bytes that were asked for
	Free        uint64   // bytes that the driver has free
	Total       uint64   // bytes of the whole device
	Active      uint64   // bytes in buffers of this process
	Cached      uint64   // bytes that this process has reserved but not in buffers
	LargestFree uint64   // largest piece of the cached memory, in bytes
	Top         []TagUse // tags whose buffers use the most memory
	Cause       error
}

func (e *OutOfMemoryError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cuda: device %d has no room for %s: of %s the driver has %s free, buffers hold %s, and the cache holds %s (largest piece %s)",
		e.Device, sizeText(e.Requested), sizeText(e.Total), sizeText(e.Free), sizeText(e.Active), sizeText(e.Cached), sizeText(e.LargestFree))
	for i, t := range e.Top {
		sep := ", "
		if i == 0 {
			sep = "; largest users: "
		}
		fmt.Fprintf(&b, "%s%s %s in %d", sep, t.Tag, sizeText(t.Bytes), t.Buffers)
	}
	other := e.Total - min(e.Total, e.Free+e.Active+e.Cached)
	if other > e.Total/10 {
		fmt.Fprintf(&b, "; other processes hold about %s, see nvidia-smi", sizeText(other))
	}
	b.WriteString(": use smaller batches, or free buffers")
	return b.String()
}

func (e *OutOfMemoryError) Is(target error) bool { return target == ErrOutOfMemory }

func (e *OutOfMemoryError) Unwrap() error { return e.Cause }

// sizeText prints bytes with a unit that people read.
func sizeText(n uint64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d B", n)
	case n < 10<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 10<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
