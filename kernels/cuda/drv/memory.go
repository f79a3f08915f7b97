// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package drv

import "unsafe"

// Uintptr returns the address as a number.
func (p DevicePtr) Uintptr() uintptr { return uintptr(p) }

// IsCUDAMemory marks the memory as an address that Go code must not dereference.
func (p DevicePtr) IsCUDAMemory() bool { return true }

// MemInfo returns the free and the total memory of the current device in bytes.
func (d *Driver) MemInfo() (free, total uint64, err error) {
	v := new([2]uint64)
	err = d.call(cuMemGetInfo, uintptr(unsafe.Pointer(&v[0])), uintptr(unsafe.Pointer(&v[1])))
	return v[0], v[1], err
}

// MemAlloc allocates memory on the current device; the size is in bytes.
func (d *Driver) MemAlloc(bytes uint64) (DevicePtr, error) {
	p := new(DevicePtr)
	err := d.call(cuMemAlloc, uintptr(unsafe.Pointer(p)), uintptr(bytes))
	return *p, err
}

// MemFree frees memory that MemAlloc returned.
func (d *Driver) MemFree(p DevicePtr) error { return d.call(cuMemFree, uintptr(p)) }

// HostAlloc allocates page-locked host memory, which copies can read and write asynchronously; the
// size is in bytes.
func (d *Driver) HostAlloc(bytes uint64) (uintptr, error) {
	const portable = 1 // usable from all contexts
	p := new(uintptr)
	err := d.call(cuMemHostAlloc, uintptr(unsafe.Pointer(p)), uintptr(bytes), portable)
	return *p, err
}

// HostFree frees memory that HostAlloc returned.
func (d *Driver) HostFree(p uintptr) error { return d.call(cuMemFreeHost, p) }

// CopyIn copies host memory to the device and returns when it has been read. It is not ordered with
// streams that do not block.
func (d *Driver) CopyIn(dst DevicePtr, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	return d.call(cuMemcpyHtoD, uintptr(dst), uintptr(unsafe.Pointer(&src[0])), uintptr(len(src)))
}

// CopyOut copies device memory to the host and returns when it is there. It is not ordered with
// streams that do not block.
func (d *Driver) CopyOut(dst []byte, src DevicePtr) error {
	if len(dst) == 0 {
		return nil
	}
	return d.call(cuMemcpyDtoH, uintptr(unsafe.Pointer(&dst[0])), uintptr(src), uintptr(len(dst)))
}

// CopyInAsync starts a copy from page-locked memory of HostAlloc.
func (d *Driver) CopyInAsync(dst DevicePtr, src uintptr, bytes uint64, s Stream) error {
	return d.errorOf(cuMemcpyHtoDAsync, d.hot4(cuMemcpyHtoDAsync, uintptr(dst), src, uintptr(bytes), uintptr(s)))
}

// CopyOutAsync starts a copy into page-locked memory of HostAlloc.
func (d *Driver) CopyOutAsync(dst uintptr, src DevicePtr, bytes uint64, s Stream) error {
	return d.errorOf(cuMemcpyDtoHAsync, d.hot4(cuMemcpyDtoHAsync, dst, uintptr(src), uintptr(bytes), uintptr(s)))
}

// CopyAsync starts a copy within the device.
func (d *Driver) CopyAsync(dst, src DevicePtr, bytes uint64, s Stream) error {
	return d.errorOf(cuMemcpyDtoDAsync, d.hot4(cuMemcpyDtoDAsync, uintptr(dst), uintptr(src), uintptr(bytes), uintptr(s)))
}

// CopyPeerAsync starts a copy from the memory of one context to that of another.
func (d *Driver) CopyPeerAsync(dst DevicePtr, to Context, src DevicePtr, from Context, bytes uint64, s Stream) error {
	return d.call(cuMemcpyPeerAsync, uintptr(dst), uintptr(to), uintptr(src), uintptr(from), uintptr(bytes), uintptr(s))
}

// SetBytesAsync starts setting n bytes to one value.
func (d *Driver) SetBytesAsync(p DevicePtr, value byte, n uint64, s Stream) error {
	return d.errorOf(cuMemsetD8Async, d.hot4(cuMemsetD8Async, uintptr(p), uintptr(value), uintptr(n), uintptr(s)))
}

// SetWordsAsync starts setting n words of four bytes to one value.
func (d *Driver) SetWordsAsync(p DevicePtr, value uint32, n uint64, s Stream) error {
	return d.errorOf(cuMemsetD32Async, d.hot4(cuMemsetD32Async, uintptr(p), uintptr(value), uintptr(n), uintptr(s)))
}

// PoolCreate makes a pool for stream-ordered allocation on a device. The pool keeps all memory that
// it has taken until PoolTrim.
func (d *Driver) PoolCreate(dev int32) (MemPool, error) {
	// CUmemPoolProps: allocation type pinned, no export, a location (device, number), then zeros.
	props := new([11]uint64)
	props[0] = 1                   // pinned, no handle type
	props[1] = 1 | uint64(dev)<<32 // location: device
	pool, keep := new(MemPool), new(uint64)
	if err := d.call(cuMemPoolCreate, uintptr(unsafe.Pointer(pool)), uintptr(unsafe.Pointer(props))); err != nil {
		return 0, err
	}
	*keep = ^uint64(0)
	const releaseThreshold = 4
	if err := d.call(cuMemPoolSetAttribute, uintptr(*pool), releaseThreshold, uintptr(unsafe.Pointer(keep))); err != nil {
		d.call(cuMemPoolDestroy, uintptr(*pool))
		return 0, err
	}
	return *pool, nil
}

// PoolDestroy frees a pool and the memory that it holds.
func (d *Driver) PoolDestroy(p MemPool) error { return d.call(cuMemPoolDestroy, uintptr(p)) }

// PoolTrim returns unused memory of a pool to the driver until at most keep bytes are left.
func (d *Driver) PoolTrim(p MemPool, keep uint64) error {
	return d.call(cuMemPoolTrimTo, uintptr(p), uintptr(keep))
}

// PoolReserved returns the number of bytes that a pool has taken from the driver.
func (d *Driver) PoolReserved(p MemPool) (uint64, error) {
	const reservedCurrent = 5
	v := new(uint64)
	err := d.call(cuMemPoolGetAttribute, uintptr(p), reservedCurrent, uintptr(unsafe.Pointer(v)))
	return *v, err
}

// PoolAlloc allocates memory in the order of a stream; the size is in bytes.
func (d *Driver) PoolAlloc(bytes uint64, pool MemPool, s Stream) (DevicePtr, error) {
	p := new(DevicePtr)
	err := d.call(cuMemAllocFromPoolAsync, uintptr(unsafe.Pointer(p)), uintptr(bytes), uintptr(pool), uintptr(s))
	return *p, err
}

// PoolFree frees memory in the order of a stream.
func (d *Driver) PoolFree(p DevicePtr, s Stream) error {
	return d.errorOf(cuMemFreeAsync, d.hot2(cuMemFreeAsync, uintptr(p), uintptr(s)))
}
