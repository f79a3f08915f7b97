// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package drv

import (
	"errors"
	"fmt"
	"strings"
)

// Reasons why no device can be used, for errors.Is.
var (
	ErrNoDriver     = errors.New("cuda: no NVIDIA driver was found")
	ErrDriverTooOld = errors.New("cuda: the driver is too old")
	ErrNoDevice     = errors.New("cuda: there is no device")
	ErrUnsupported  = errors.New("cuda: not supported by this driver or device")
)

// Error is a failed call of the driver. errors.Is finds its Result, as in errors.Is(err,
// drv.OutOfMemory).
type Error struct {
	Code   Result
	Name   string      // the driver's name for the code
	Call   string      // name of the entry point, such as cuMemAlloc_v2
	Detail string      // numbers of the call; empty if there are none
	Device int         // ordinal of the device, or -1 if there is none
	Stream string      // name of the stream; empty if there is none
	Launch *LaunchInfo // launch that failed, or nil if it is not known
	// Async reports whether the failure belongs to earlier work, which is among Recent.
	Async  bool
	Recent []LaunchInfo
}

// LaunchInfo describes one launch of a kernel.
type LaunchInfo struct {
	Serial uint64 // number of the launch on its device, counted from 1
	Kernel string
	Grid   [3]int // number of blocks along X, Y and Z
	Block  [3]int // number of threads of a block along X, Y and Z
	Shared int    // dynamic shared memory in bytes
	Stream string
}

// String returns a description of the launch in one line.
func (l LaunchInfo) String() string {
	if l.Grid == [3]int{} { // a graph, or a call of a library
		return fmt.Sprintf("launch %d of %s on stream %s", l.Serial, l.Kernel, l.Stream)
	}
	return fmt.Sprintf("launch %d of %s, grid %dx%dx%d, block %dx%dx%d, %d B shared, on stream %s", l.Serial, l.Kernel,
		l.Grid[0], l.Grid[1], l.Grid[2], l.Block[0], l.Block[1], l.Block[2], l.Shared, l.Stream)
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cuda: %s", e.Call)
	if e.Detail != "" {
		fmt.Fprintf(&b, " (%s)", e.Detail)
	}
	if e.Device >= 0 {
		fmt.Fprintf(&b, " on device %d", e.Device)
	}
	if e.Stream != "" {
		fmt.Fprintf(&b, ", stream %s", e.Stream)
	}
	fmt.Fprintf(&b, ": %s (%d)", e.Name, int32(e.Code))
	if e.Launch != nil {
		fmt.Fprintf(&b, " in %s", e.Launch)
	}
	if advice := advice[e.Code]; advice != "" {
		b.WriteString(": " + advice)
	}
	if e.Async {
		b.WriteString("\nThe failure belongs to work that was started earlier; run with EURYALE_CUDA_SYNC=1 to see where. Launches since the last synchronisation that succeeded:")
		for _, l := range e.Recent {
			fmt.Fprintf(&b, "\n\t%s", l)
		}
		if len(e.Recent) == 0 {
			b.WriteString(" none, so it was a copy")
		}
	}
	return b.String()
}

// Is reports whether target is the result, or the sentinel that the result implies.
func (e *Error) Is(target error) bool {
	switch target {
	case error(e.Code):
		return true
	case ErrNoDevice:
		return e.Code == NoDevice
	case ErrUnsupported:
		return e.Code == NotSupported
	case ErrDriverTooOld:
		return e.Code == SystemDriverMismatch || e.Code == CallRequiresNewerDriver
	}
	return false
}

// advice says what to try about a result.
var advice = map[Result]string{
	InvalidContext:         "the context is not current on this thread",
	OutOfMemory:            "free arrays, use smaller batches, or look for other users of the device with nvidia-smi",
	NoDevice:               "the driver sees no GPU; look at CUDA_VISIBLE_DEVICES and nvidia-smi",
	StubLibrary:            "the library that was opened is the toolkit's stub for linking; put the real libcuda.so.1 first",
	DeviceUnavailable:      "another process holds the device in exclusive mode",
	NoBinaryForGPU:         "the module was compiled for another kind of device",
	UnsupportedPTXVersion:  "the compiler is newer than the driver; update the driver or use an older NVRTC",
	JITCompilerNotFound:    "the driver's libnvidia-ptxjitcompiler is missing; install the whole driver",
	ECCUncorrectable:       "the memory of the GPU has failed; look at nvidia-smi -q -d ECC",
	IllegalAddress:         "a kernel read or wrote outside its arrays; the context is lost",
	LaunchOutOfResources:   "the block needs more registers or shared memory than there are; try a smaller one",
	LaunchTimeout:          "the kernel ran longer than the display's watchdog allows; the context is lost",
	MisalignedAddress:      "a kernel used an address that is not a multiple of the size of what it read; the context is lost",
	LaunchFailed:           "a kernel ended abnormally; the context is lost",
	Assert:                 "an assertion in a kernel failed; the context is lost",
	SystemDriverMismatch:   "the library and the kernel module of the driver differ in version; restart the machine after an update",
	SystemNotReady:         "the fabric manager or the persistence daemon is not running yet",
	GraphExecUpdateFailure: "the new graph has other nodes than the old one; instantiate it anew",
}

// errorOf returns the error of a call, or nil if it succeeded.
func (d *Driver) errorOf(s symbol, r Result) error {
	if r == Success {
		return nil
	}
	return &Error{Code: r, Name: d.resultName(r), Call: symbols[s].name, Device: -1}
}

// resultName asks the driver about results that are newer than our table.
func (d *Driver) resultName(r Result) string {
	if _, ok := resultNames[r]; ok || d.address[cuGetErrorName] == 0 {
		return r.Name()
	}
	if name := d.errorText(cuGetErrorName, r); name != "" {
		return name
	}
	return r.Name()
}
