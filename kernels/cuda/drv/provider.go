// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package drv

// Provider makes the driver's calls. Driver does so through a library that it opens and, with the
// build tags cu and cgo, CU does so through gorgonia.org/cu. The methods are described at Driver.
type Provider interface {
	Path() string
	Version() int
	Has(f Feature) bool
	Enter(c Context) error
	Leave()

	DeviceCount() (int, error)
	Device(ordinal int) (int32, error)
	DeviceName(dev int32) (string, error)
	DeviceBus(dev int32) (string, error)
	DeviceUUID(dev int32) (string, error)
	DeviceMemory(dev int32) (uint64, error)
	DeviceAttribute(a Attribute, dev int32) (int, error)
	Retain(dev int32) (Context, error)
	Release(dev int32) error
	Current() (Context, error)
	CtxSynchronize() error
	CanAccessPeer(dev, peer int32) (bool, error)
	EnablePeerAccess(peer Context) error

	MemInfo() (free, total uint64, err error)
	MemAlloc(bytes uint64) (DevicePtr, error)
	MemFree(p DevicePtr) error
	HostAlloc(bytes uint64) (uintptr, error)
	HostFree(p uintptr) error
	CopyIn(dst DevicePtr, src []byte) error
	CopyOut(dst []byte, src DevicePtr) error
	CopyInAsync(dst DevicePtr, src uintptr, bytes uint64, s Stream) error
	CopyOutAsync(dst uintptr, src DevicePtr, bytes uint64, s Stream) error
	CopyAsync(dst, src DevicePtr, bytes uint64, s Stream) error
	CopyPeerAsync(dst DevicePtr, to Context, src DevicePtr, from Context, bytes uint64, s Stream) error
	SetBytesAsync(p DevicePtr, value byte, n uint64, s Stream) error
	SetWordsAsync(p DevicePtr, value uint32, n uint64, s Stream) error
	PoolCreate(dev int32) (MemPool, error)
	PoolDestroy(p MemPool) error
	PoolTrim(p MemPool, keep uint64) error
	PoolReserved(p MemPool) (uint64, error)
	PoolAlloc(bytes uint64, pool MemPool, s Stream) (DevicePtr, error)
	PoolFree(p DevicePtr, s Stream) error

	StreamCreate(priority int) (Stream, error)
	StreamDestroy(s Stream) error
	StreamSynchronize(s Stream) error
	StreamQuery(s Stream) (bool, error)
	StreamWait(s Stream, e Event) error
	EventCreate(timing bool) (Event, error)
	EventDestroy(e Event) error
	EventRecord(e Event, s Stream) error
	EventQuery(e Event) (bool, error)
	EventSynchronize(e Event) error
	EventElapsed(from, to Event) (float64, error)

	ModuleLoad(image []byte) (Module, error)
	ModuleUnload(m Module) error
	ModuleFunction(m Module, name string) (Function, error)
	ModuleGlobal(m Module, name string) (DevicePtr, uint64, error)
	FunctionGet(f Function, a FunctionAttribute) (int, error)
	FunctionSet(f Function, a FunctionAttribute, value int) error
	FunctionParameters(f Function) ([]int, error)
	Occupancy(f Function, block int, shared int) (int, error)
	Launch(f Function, grid, block [3]int, shared int, s Stream, p *Parameters) error

	CaptureBegin(s Stream) error
	CaptureEnd(s Stream) (Graph, error)
	GraphInstantiate(g Graph) (GraphExec, error)
	GraphLaunch(e GraphExec, s Stream) error
	GraphUpdate(e GraphExec, g Graph) error
	GraphDestroy(g Graph) error
	GraphExecDestroy(e GraphExec) error
}

var _ Provider = (*Driver)(nil)
