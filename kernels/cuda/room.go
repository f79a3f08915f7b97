// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import "fmt"

// fullest is the part of a device's memory, in percent, up to which computations that plan their memory
// take it: the rest is left to the driver, to libraries and to other programs. Of a device that others have
// filled further they take a quarter of what is free, so that small work still runs.
const fullest = 80

// Room returns how many more bytes may be allocated so that the device stays at most 80 % full, and at
// least a quarter of what is free. Memory that this process has freed and still caches counts as free.
func (d *Device) Room() (uint64, error) {
	free, total, err := d.MemInfo()
	if err != nil {
		return 0, err
	}
	free += d.Stats().Cached
	used := total - min(total, free)
	return max(free/4, total/100*fullest-min(total/100*fullest, used)), nil
}

// Fits returns a [*RoomError] unless the device has room for the given number of bytes, the least
// that the work needs. Ask before the work begins, so that nothing is lost when memory is short.
func (d *Device) Fits(what string, bytes uint64) error {
	room, err := d.Room()
	if err != nil || bytes <= room {
		return err
	}
	free, total, err := d.MemInfo()
	if err != nil {
		return err
	}
	return &RoomError{What: what, Device: d.ordinal, Needed: bytes, Room: room, Free: free, Total: total}
}

// RoomError says that a device has less room than a computation needs. Nothing was computed.
type RoomError struct {
	// What says what does not fit, such as "a scattering pattern of 32 x 512 x 512 voxels".
	What   string
	Device int
	Needed uint64 // smallest number of bytes that the computation needs
	Room   uint64 // bytes that may be allocated, see Device.Room
	Free   uint64 // bytes that the driver has free
	Total  uint64 // bytes of the whole device
}

func (e *RoomError) Error() string {
	return fmt.Sprintf("cuda: %s needs at least %s of device %d, which has room for %s (%s free of %s, of which a part is left to others): "+
		"use a smaller problem, a lower precision, another GPU or the processor", e.What, sizeText(e.Needed), e.Device, sizeText(e.Room), sizeText(e.Free), sizeText(e.Total))
}

// Is reports whether target is ErrOutOfMemory, of which this is a kind.
func (e *RoomError) Is(target error) bool { return target == ErrOutOfMemory }
