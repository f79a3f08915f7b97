// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cu && cgo

package drv

// #include <stdlib.h>
import "C"

// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"unsafe"

	"gorgonia.org/cu"
)

// CU makes the driver's calls through gorgonia.org/cu, with the methods of Driver, for programs that use
// that module already and exchange contexts, streams, kernels and memory with it. It is there with the tags
// cu and cgo; its headers and libcuda are needed to build, and a program that links it does not start
// without a driver. With these tags package kernels/cuda makes all its calls through it.
//
// What the module lacks returns ErrUnsupported: memory pools, graphs, properties of kernels that are set,
// parameters of kernels, and structs by value. It cannot page-lock memory either: HostAlloc returns
// ordinary memory, and copies from and to it wait for their stream.
type CU struct{}

var _ Provider = (*CU)(nil)

// Find returns the provider through gorgonia.org/cu; see OpenCU.
func Find() (Provider, error) {
	c, err := OpenCU()
	if err != nil {
		return nil, err
	}
	return c, nil
}

// OpenCU returns the provider. Package gorgonia.org/cu has initialised the driver at program start.
func OpenCU() (*CU, error) {
	if v := cu.Version(); v < minimum {
		return nil, fmt.Errorf("%w: it supports CUDA %d.%d: install one for CUDA 11.0 or newer", ErrDriverTooOld, v/1000, v%1000/10)
	}
	return &CU{}, nil
}

// Handles are single pointers on both sides.

// ToCU returns a stream as gorgonia.org/cu holds it.
func (s Stream) ToCU() cu.Stream { return *(*cu.Stream)(unsafe.Pointer(&s)) }

// StreamFromCU converts a stream of gorgonia.org/cu.
func StreamFromCU(s cu.Stream) Stream { return *(*Stream)(unsafe.Pointer(&s)) }

// ToCU returns an event as gorgonia.org/cu holds it.
func (e Event) ToCU() cu.Event { return *(*cu.Event)(unsafe.Pointer(&e)) }

// EventFromCU converts an event of gorgonia.org/cu.
func EventFromCU(e cu.Event) Event { return *(*Event)(unsafe.Pointer(&e)) }

// ToCU returns a context as gorgonia.org/cu holds it.
func (c Context) ToCU() cu.CUContext { return *(*cu.CUContext)(unsafe.Pointer(&c)) }

// ContextFromCU converts a context of gorgonia.org/cu.
func ContextFromCU(c cu.CUContext) Context { return *(*Context)(unsafe.Pointer(&c)) }

// ToCU returns a module as gorgonia.org/cu holds it.
func (m Module) ToCU() cu.Module { return *(*cu.Module)(unsafe.Pointer(&m)) }

// ModuleFromCU converts a module of gorgonia.org/cu.
func ModuleFromCU(m cu.Module) Module { return *(*Module)(unsafe.Pointer(&m)) }

// ToCU returns a kernel as gorgonia.org/cu holds it.
func (f Function) ToCU() cu.Function { return *(*cu.Function)(unsafe.Pointer(&f)) }

// FunctionFromCU converts a kernel of gorgonia.org/cu.
func FunctionFromCU(f cu.Function) Function { return *(*Function)(unsafe.Pointer(&f)) }

// ToCU returns an address as gorgonia.org/cu holds it.
func (p DevicePtr) ToCU() cu.DevicePtr { return cu.DevicePtr(p) }

// DevicePtrFromCU converts an address of gorgonia.org/cu.
func DevicePtrFromCU(p cu.DevicePtr) DevicePtr { return DevicePtr(p) }

// cuError turns a result of the module, whose type it does not export, into an *Error.
func cuError(call string, err error) error {
	if err == nil {
		return nil
	}
	v := reflect.ValueOf(err)
	if v.Kind() != reflect.Int {
		return fmt.Errorf("cuda: %s: %w", call, err)
	}
	code := Result(v.Int())
	return &Error{Code: code, Name: code.Name(), Call: call, Device: -1}
}

func cuLacks(what string) error {
	return fmt.Errorf("%w: gorgonia.org/cu has no %s: build without the tag cu", ErrUnsupported, what)
}

// Path returns the name of the provider.
func (*CU) Path() string { return "libcuda, linked by gorgonia.org/cu" }

// Version returns the newest CUDA version that the driver supports, as 1000*major + 10*minor.
func (*CU) Version() int { return cu.Version() }

// Has reports whether a feature is available: only copies between devices and the UUIDs of devices
// are.
func (*CU) Has(f Feature) bool { return f == FeaturePeers || f == FeatureUUID }

// DeviceCount returns the number of devices.
func (*CU) DeviceCount() (int, error) {
	n, err := cu.NumDevices()
	return n, cuError("cuDeviceGetCount", err)
}

// Device returns the handle of a device.
func (*CU) Device(ordinal int) (int32, error) {
	d, err := cu.GetDevice(ordinal)
	return int32(d), cuError("cuDeviceGet", err)
}

// DeviceName returns the name of a device.
func (*CU) DeviceName(dev int32) (string, error) {
	name, err := cu.Device(dev).Name()
	return name, cuError("cuDeviceGetName", err)
}

// DeviceMemory returns the memory of a device in bytes.
func (*CU) DeviceMemory(dev int32) (uint64, error) {
	n, err := cu.Device(dev).TotalMem()
	return uint64(n), cuError("cuDeviceTotalMem", err)
}

// DeviceAttribute returns an attribute of a device. Attributes that the driver does not know are 0.
func (*CU) DeviceAttribute(a Attribute, dev int32) (int, error) {
	n, err := cu.Device(dev).Attribute(cu.DeviceAttribute(a))
	if err = cuError("cuDeviceGetAttribute", err); errors.Is(err, InvalidValue) {
		return 0, nil
	}
	return n, err
}

// DeviceBus returns the address of the device on the PCI bus, such as 0000:0A:00.0.
func (c *CU) DeviceBus(dev int32) (string, error) {
	var at [3]int
	for i, a := range []cu.DeviceAttribute{cu.PciDomainID, cu.PciBusID, cu.PciDeviceID} {
		var err error
		if at[i], err = c.DeviceAttribute(Attribute(a), dev); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%04X:%02X:%02X.0", at[0], at[1], at[2]), nil
}

// DeviceUUID returns the UUID of the device in the form that nvidia-smi prints.
func (*CU) DeviceUUID(dev int32) (string, error) {
	id, err := cu.Device(dev).UUID()
	return "GPU-" + id.String(), cuError("cuDeviceGetUuid", err)
}

// CanAccessPeer reports whether a device can read the memory of another.
func (*CU) CanAccessPeer(dev, peer int32) (bool, error) {
	n, err := cu.Device(dev).CanAccessPeer(cu.Device(peer))
	return n != 0, cuError("cuDeviceCanAccessPeer", err)
}

// EnablePeerAccess lets the current context read the memory of another context. Enabling it twice
// is not an error.
func (*CU) EnablePeerAccess(peer Context) error {
	err := cuError("cuCtxEnablePeerAccess", peer.ToCU().EnablePeerAccess(0))
	if errors.Is(err, PeerAccessAlreadyEnabled) {
		return nil
	}
	return err
}

// Retain returns the primary context of a device; each call needs a Release.
func (*CU) Retain(dev int32) (Context, error) {
	c, err := cu.Device(dev).RetainPrimaryCtx()
	return ContextFromCU(c), cuError("cuDevicePrimaryCtxRetain", err)
}

// Release gives the primary context back.
func (*CU) Release(dev int32) error {
	return cuError("cuDevicePrimaryCtxRelease", cu.Device(dev).ReleasePrimaryCtx())
}

// Enter ties the goroutine to its thread and makes a context current there, until Leave.
func (*CU) Enter(c Context) error {
	runtime.LockOSThread()
	err := cuError("cuCtxSetCurrent", cu.SetCurrentContext(c.ToCU()))
	if err != nil {
		runtime.UnlockOSThread()
	}
	return err
}

// Leave unties the goroutine.
func (*CU) Leave() { runtime.UnlockOSThread() }

// Current returns the context that is current on this thread.
func (*CU) Current() (Context, error) {
	c, err := cu.CurrentContext()
	return ContextFromCU(c), cuError("cuCtxGetCurrent", err)
}

// CtxSynchronize waits for all work of the context.
func (*CU) CtxSynchronize() error { return cuError("cuCtxSynchronize", cu.Synchronize()) }

// MemInfo returns the free and the total memory of the current device in bytes.
func (*CU) MemInfo() (free, total uint64, err error) {
	f, t, err := cu.MemInfo()
	return uint64(f), uint64(t), cuError("cuMemGetInfo", err)
}

// MemAlloc allocates memory on the current device; the size is in bytes.
func (*CU) MemAlloc(bytes uint64) (DevicePtr, error) {
	p, err := cu.MemAlloc(int64(bytes))
	return DevicePtr(p), cuError("cuMemAlloc", err)
}

// MemFree frees memory that MemAlloc returned.
func (*CU) MemFree(p DevicePtr) error { return cuError("cuMemFree", cu.MemFree(p.ToCU())) }

// CopyIn copies host memory to the device and returns when it has been read.
func (*CU) CopyIn(dst DevicePtr, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	return cuError("cuMemcpyHtoD", cu.MemcpyHtoD(dst.ToCU(), unsafe.Pointer(&src[0]), int64(len(src))))
}

// CopyOut copies device memory to the host and returns when it is there.
func (*CU) CopyOut(dst []byte, src DevicePtr) error {
	if len(dst) == 0 {
		return nil
	}
	return cuError("cuMemcpyDtoH", cu.MemcpyDtoH(unsafe.Pointer(&dst[0]), src.ToCU(), int64(len(dst))))
}

// HostAlloc allocates host memory outside the reach of Go's garbage collector. It is not
// page-locked.
func (*CU) HostAlloc(bytes uint64) (uintptr, error) {
	p := C.malloc(C.size_t(max(bytes, 1)))
	if p == nil {
		return 0, fmt.Errorf("cuda: the host has no room for %d bytes: free host memory or copy less at a time: %w", bytes, OutOfMemory)
	}
	return uintptr(p), nil
}

// HostFree frees memory that HostAlloc returned.
func (*CU) HostFree(p uintptr) error {
	C.free(hostPointer(p))
	return nil
}

// hostPointer is memory of the host, which Go's collector does not own.
func hostPointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// CopyInAsync copies memory of HostAlloc to the device after the work of a stream, and waits for it.
func (c *CU) CopyInAsync(dst DevicePtr, src uintptr, bytes uint64, s Stream) error {
	if err := c.StreamSynchronize(s); err != nil {
		return err
	}
	return cuError("cuMemcpyHtoD", cu.MemcpyHtoD(dst.ToCU(), hostPointer(src), int64(bytes)))
}

// CopyOutAsync copies memory of the device to that of HostAlloc after the work of a stream, and waits for
// it.
func (c *CU) CopyOutAsync(dst uintptr, src DevicePtr, bytes uint64, s Stream) error {
	if err := c.StreamSynchronize(s); err != nil {
		return err
	}
	return cuError("cuMemcpyDtoH", cu.MemcpyDtoH(hostPointer(dst), src.ToCU(), int64(bytes)))
}

// CopyAsync starts a copy within the device.
func (*CU) CopyAsync(dst, src DevicePtr, bytes uint64, s Stream) error {
	return cuError("cuMemcpyDtoDAsync", cu.MemcpyDtoDAsync(dst.ToCU(), src.ToCU(), int64(bytes), s.ToCU()))
}

// CopyPeerAsync starts a copy between devices.
func (*CU) CopyPeerAsync(dst DevicePtr, to Context, src DevicePtr, from Context, bytes uint64, s Stream) error {
	return cuError("cuMemcpyPeerAsync", cu.MemcpyPeerAsync(dst.ToCU(), to.ToCU(), src.ToCU(), from.ToCU(), int64(bytes), s.ToCU()))
}

// SetBytesAsync starts filling memory with a byte.
func (*CU) SetBytesAsync(p DevicePtr, value byte, n uint64, s Stream) error {
	return cuError("cuMemsetD8Async", cu.MemsetD8Async(p.ToCU(), value, int64(n), s.ToCU()))
}

// SetWordsAsync starts filling memory with a word of 32 bits.
func (*CU) SetWordsAsync(p DevicePtr, value uint32, n uint64, s Stream) error {
	return cuError("cuMemsetD32Async", cu.MemsetD32Async(p.ToCU(), uint(value), int64(n), s.ToCU()))
}

// StreamCreate makes a stream that does not wait for the legacy stream. Lower numbers have priority.
func (*CU) StreamCreate(priority int) (Stream, error) {
	s, err := cu.MakeStreamWithPriority(priority, cu.NonBlocking)
	return StreamFromCU(s), cuError("cuStreamCreateWithPriority", err)
}

// StreamDestroy gives a stream back.
func (*CU) StreamDestroy(s Stream) error {
	theirs := s.ToCU()
	return cuError("cuStreamDestroy", theirs.Destroy())
}

// StreamSynchronize waits for all work of a stream.
func (*CU) StreamSynchronize(s Stream) error {
	return cuError("cuStreamSynchronize", s.ToCU().Synchronize())
}

// StreamQuery reports whether a stream has finished all its work.
func (*CU) StreamQuery(s Stream) (bool, error) { return cuReady("cuStreamQuery", s.ToCU().Query()) }

// StreamWait lets work that is put on a stream from now on wait for an event.
func (*CU) StreamWait(s Stream, e Event) error {
	return cuError("cuStreamWaitEvent", s.ToCU().Wait(e.ToCU(), 0))
}

// cuReady reads the answer to a query.
func cuReady(call string, err error) (bool, error) {
	err = cuError(call, err)
	if e, ok := err.(*Error); ok && e.Code == NotReady {
		return false, nil
	}
	return err == nil, err
}

// EventCreate makes an event; those without timing are cheaper.
func (*CU) EventCreate(timing bool) (Event, error) {
	flags := cu.DisableTiming
	if timing {
		flags = cu.DefaultEvent
	}
	e, err := cu.MakeEvent(flags)
	return EventFromCU(e), cuError("cuEventCreate", err)
}

// EventDestroy gives an event back.
func (*CU) EventDestroy(e Event) error {
	theirs := e.ToCU()
	return cuError("cuEventDestroy", cu.DestroyEvent(&theirs))
}

// EventRecord records an event behind the work of a stream.
func (*CU) EventRecord(e Event, s Stream) error {
	return cuError("cuEventRecord", e.ToCU().Record(s.ToCU()))
}

// EventQuery reports whether the work before an event has finished.
func (*CU) EventQuery(e Event) (bool, error) { return cuReady("cuEventQuery", e.ToCU().Query()) }

// EventSynchronize waits for an event.
func (*CU) EventSynchronize(e Event) error {
	return cuError("cuEventSynchronize", e.ToCU().Synchronize())
}

// EventElapsed returns the milliseconds between two events with timing.
func (*CU) EventElapsed(from, to Event) (float64, error) {
	ms, err := from.ToCU().Elapsed(to.ToCU())
	return ms, cuError("cuEventElapsedTime", err)
}

// ModuleLoad loads a cubin or PTX.
func (*CU) ModuleLoad(image []byte) (Module, error) {
	m, err := cu.LoadData(string(image))
	return ModuleFromCU(m), cuError("cuModuleLoadData", err)
}

// ModuleUnload gives a module back.
func (*CU) ModuleUnload(m Module) error { return cuError("cuModuleUnload", m.ToCU().Unload()) }

// ModuleFunction returns a kernel.
func (*CU) ModuleFunction(m Module, name string) (Function, error) {
	f, err := m.ToCU().Function(name)
	return FunctionFromCU(f), cuError("cuModuleGetFunction", err)
}

// ModuleGlobal returns the address and the bytes of a variable.
func (*CU) ModuleGlobal(m Module, name string) (DevicePtr, uint64, error) {
	p, n, err := m.ToCU().Global(name)
	return DevicePtr(p), uint64(n), cuError("cuModuleGetGlobal", err)
}

// FunctionGet returns an attribute of a kernel.
func (*CU) FunctionGet(f Function, a FunctionAttribute) (int, error) {
	n, err := f.ToCU().Attribute(cu.FunctionAttribute(a))
	return n, cuError("cuFuncGetAttribute", err)
}

// Occupancy returns how many blocks a multiprocessor holds at once.
func (*CU) Occupancy(f Function, block, shared int) (int, error) {
	n, err := f.ToCU().MaxActiveBlocksPerMultiProcessor(block, int64(shared))
	return n, cuError("cuOccupancyMaxActiveBlocksPerMultiprocessor", err)
}

// Launch starts a kernel. The module copies eight bytes of each parameter, so structs by value are
// refused.
func (*CU) Launch(f Function, grid, block [3]int, shared int, s Stream, p *Parameters) error {
	if p.words != p.n {
		return cuLacks("parameters of more than 8 bytes")
	}
	err := f.ToCU().Launch(grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, s.ToCU(), p.table[:p.n])
	runtime.KeepAlive(p)
	return cuError("cuLaunchKernel", err)
}

// What gorgonia.org/cu lacks.

// PoolCreate returns ErrUnsupported: gorgonia.org/cu has no memory pools.
func (*CU) PoolCreate(int32) (MemPool, error) { return 0, cuLacks("memory pools") }

// PoolAlloc returns ErrUnsupported: gorgonia.org/cu has no memory pools.
func (*CU) PoolAlloc(uint64, MemPool, Stream) (DevicePtr, error) { return 0, cuLacks("memory pools") }

// PoolFree returns ErrUnsupported: gorgonia.org/cu has no memory pools.
func (*CU) PoolFree(DevicePtr, Stream) error { return cuLacks("memory pools") }

// CaptureBegin returns ErrUnsupported: gorgonia.org/cu cannot capture graphs.
func (*CU) CaptureBegin(Stream) error { return cuLacks("capture of graphs") }

// CaptureEnd returns ErrUnsupported: gorgonia.org/cu cannot capture graphs.
func (*CU) CaptureEnd(Stream) (Graph, error) { return 0, cuLacks("capture of graphs") }

// GraphInstantiate returns ErrUnsupported: gorgonia.org/cu cannot launch graphs.
func (*CU) GraphInstantiate(Graph) (GraphExec, error) {
	return 0, cuLacks("graphs that can be launched")
}

// GraphLaunch returns ErrUnsupported: gorgonia.org/cu cannot launch graphs.
func (*CU) GraphLaunch(GraphExec, Stream) error { return cuLacks("graphs that can be launched") }

// PoolDestroy returns ErrUnsupported: gorgonia.org/cu has no memory pools.
func (*CU) PoolDestroy(MemPool) error { return cuLacks("memory pools") }

// PoolTrim returns ErrUnsupported: gorgonia.org/cu has no memory pools.
func (*CU) PoolTrim(MemPool, uint64) error { return cuLacks("memory pools") }

// PoolReserved returns ErrUnsupported: gorgonia.org/cu has no memory pools.
func (*CU) PoolReserved(MemPool) (uint64, error) { return 0, cuLacks("memory pools") }

// GraphUpdate returns ErrUnsupported: gorgonia.org/cu cannot launch graphs.
func (*CU) GraphUpdate(GraphExec, Graph) error { return cuLacks("graphs that can be launched") }

// GraphDestroy returns ErrUnsupported: gorgonia.org/cu cannot launch graphs.
func (*CU) GraphDestroy(Graph) error { return cuLacks("graphs that can be launched") }

// GraphExecDestroy returns ErrUnsupported: gorgonia.org/cu cannot launch graphs.
func (*CU) GraphExecDestroy(GraphExec) error { return cuLacks("graphs that can be launched") }

// FunctionSet returns ErrUnsupported: gorgonia.org/cu cannot set attributes of kernels.
func (*CU) FunctionSet(Function, FunctionAttribute, int) error {
	return cuLacks("properties of kernels that can be set")
}

// FunctionParameters returns ErrUnsupported: gorgonia.org/cu does not know the parameters of
// kernels.
func (*CU) FunctionParameters(Function) ([]int, error) { return nil, cuLacks("parameters of kernels") }
