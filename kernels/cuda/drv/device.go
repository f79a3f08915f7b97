// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package drv

import (
	"bytes"
	"fmt"
	"unsafe"
)

// Attribute numbers a property of a device.
type Attribute int

// The attributes that this module uses.
const (
	MaxThreadsPerBlock   Attribute = 1
	MaxBlockX            Attribute = 2
	MaxBlockY            Attribute = 3
	MaxBlockZ            Attribute = 4
	MaxGridX             Attribute = 5
	MaxGridY             Attribute = 6
	MaxGridZ             Attribute = 7
	SharedPerBlock       Attribute = 8 // shared memory per block without opting in, in bytes
	WarpSize             Attribute = 10
	RegistersPerBlock    Attribute = 12
	ClockKHz             Attribute = 13
	Multiprocessors      Attribute = 16
	MemoryClockKHz       Attribute = 36
	MemoryBusBits        Attribute = 37
	L2Bytes              Attribute = 38
	ThreadsPerMP         Attribute = 39
	CopyEngines          Attribute = 40
	CapabilityMajor      Attribute = 75
	CapabilityMinor      Attribute = 76
	SharedPerMP          Attribute = 81 // shared memory per multiprocessor, in bytes
	RegistersPerMP       Attribute = 82
	SharedPerBlockOptin  Attribute = 97 // shared memory per block for kernels that opt in, in bytes
	MemoryPoolsSupported Attribute = 115
)

// DeviceCount returns the number of devices that the driver shows to this process; it honours
// CUDA_VISIBLE_DEVICES.
func (d *Driver) DeviceCount() (int, error) {
	n := new(int32)
	err := d.call(cuDeviceGetCount, uintptr(unsafe.Pointer(n)))
	return int(*n), err
}

// Device returns the handle of the device with the given ordinal, counted from 0.
func (d *Driver) Device(ordinal int) (int32, error) {
	dev := new(int32)
	err := d.call(cuDeviceGet, uintptr(unsafe.Pointer(dev)), uintptr(ordinal))
	return *dev, err
}

// DeviceName returns the product name of the device.
func (d *Driver) DeviceName(dev int32) (string, error) {
	return d.text(cuDeviceGetName, dev)
}

// DeviceBus returns the address of the device on the PCI bus, such as 0000:0A:00.0.
func (d *Driver) DeviceBus(dev int32) (string, error) {
	return d.text(cuDeviceGetPCIBusID, dev)
}

func (d *Driver) text(s symbol, dev int32) (string, error) {
	b := make([]byte, 256)
	err := d.call(s, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(dev))
	name, _, _ := bytes.Cut(b, []byte{0})
	return string(name), err
}

// DeviceUUID returns the UUID of the device in the form that nvidia-smi prints.
func (d *Driver) DeviceUUID(dev int32) (string, error) {
	s := cuDeviceGetUUID2
	if d.address[s] == 0 {
		s = cuDeviceGetUUID
	}
	var b [16]byte
	p := &b
	if err := d.call(s, uintptr(unsafe.Pointer(p)), uintptr(dev)); err != nil {
		return "", err
	}
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", p[:4], p[4:6], p[6:8], p[8:10], p[10:]), nil
}

// DeviceMemory returns the memory of the device in bytes.
func (d *Driver) DeviceMemory(dev int32) (uint64, error) {
	n := new(uint64)
	err := d.call(cuDeviceTotalMem, uintptr(unsafe.Pointer(n)), uintptr(dev))
	return *n, err
}

// DeviceAttribute returns an attribute of the device. Attributes that the driver does not know are
// 0.
func (d *Driver) DeviceAttribute(a Attribute, dev int32) (int, error) {
	v := new(int32)
	err := d.call(cuDeviceGetAttribute, uintptr(unsafe.Pointer(v)), uintptr(a), uintptr(dev))
	if e, ok := err.(*Error); ok && e.Code == InvalidValue {
		return 0, nil
	}
	return int(*v), err
}

// Retain returns the primary context of the device and increments its count of users.
func (d *Driver) Retain(dev int32) (Context, error) {
	c := new(Context)
	err := d.call(cuDevicePrimaryCtxRetain, uintptr(unsafe.Pointer(c)), uintptr(dev))
	return *c, err
}

// Release gives back what Retain took.
func (d *Driver) Release(dev int32) error { return d.call(cuDevicePrimaryCtxRelease, uintptr(dev)) }

// Current returns the context that is current on the calling thread, or 0.
func (d *Driver) Current() (Context, error) {
	c := new(Context)
	err := d.call(cuCtxGetCurrent, uintptr(unsafe.Pointer(c)))
	return *c, err
}

// CtxSynchronize waits for all work of the current context.
func (d *Driver) CtxSynchronize() error { return d.call(cuCtxSynchronize) }

// CanAccessPeer reports whether kernels of a device can read the memory of another.
func (d *Driver) CanAccessPeer(dev, peer int32) (bool, error) {
	v := new(int32)
	err := d.call(cuDeviceCanAccessPeer, uintptr(unsafe.Pointer(v)), uintptr(dev), uintptr(peer))
	return *v != 0, err
}

// EnablePeerAccess lets the current context read the memory of another context. Enabling it twice
// is not an error.
func (d *Driver) EnablePeerAccess(peer Context) error {
	err := d.call(cuCtxEnablePeerAccess, uintptr(peer), 0)
	if e, ok := err.(*Error); ok && e.Code == PeerAccessAlreadyEnabled {
		return nil
	}
	return err
}
