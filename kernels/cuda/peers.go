// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"fmt"
	"sync"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// peers remembers which devices can be read directly.
type peers struct {
	mu     sync.Mutex
	direct map[*Device]bool
}

// CanAccessPeer reports whether the device can read the memory of another directly, over NVLink or the
// PCI bus.
func (d *Device) CanAccessPeer(other *Device) (can bool, err error) {
	if d == other || !d.drv.Has(drv.FeaturePeers) {
		return false, nil
	}
	err = d.do(func() (err error) {
		can, err = d.drv.CanAccessPeer(d.handle, other.handle)
		return d.check(err, nil)
	})
	return can, err
}

// EnablePeer lets the device read the memory of another directly from now on; a second call does
// nothing. It returns an error that wraps ErrUnsupported if the devices cannot. Copies between
// devices call it themselves. It has not been tested on a machine with several GPUs yet.
func (d *Device) EnablePeer(other *Device) error {
	can, err := d.CanAccessPeer(other)
	if err != nil {
		return err
	}
	if !can {
		return fmt.Errorf("%w: device %d cannot read the memory of device %d directly: use copies, which go through the host", ErrUnsupported, d.ordinal, other.ordinal)
	}
	return d.do(func() error { return d.check(d.drv.EnablePeerAccess(other.ctx), nil) })
}

// reaches enables direct copies from another device when they are first asked for, and reports whether
// there are any. A device that cannot be asked is not reached.
func (d *Device) reaches(other *Device) bool {
	d.peers.mu.Lock()
	defer d.peers.mu.Unlock()
	direct, known := d.peers.direct[other]
	if !known {
		direct = d.EnablePeer(other) == nil
		if d.peers.direct == nil {
			d.peers.direct = map[*Device]bool{}
		}
		d.peers.direct[other] = direct
	}
	return direct
}

// copyPeer orders a copy with the work of both devices: it comes after what the other device has now,
// and the other device goes on after it.
func (s *Stream) copyPeer(to drv.DevicePtr, src *Buffer, from drv.DevicePtr, n int) error {
	other := src.d
	other.pool.usedBy(src.b, other.compute)
	if err := s.waitFor(other.compute); err != nil {
		return err
	}
	if err := s.fetchPeer(to, other, from, n); err != nil {
		return err
	}
	return other.compute.waitFor(s)
}

// waitFor lets work that is put on the stream from now on wait for the work of another, which may be of
// another device.
func (s *Stream) waitFor(other *Stream) error {
	e, err := other.Record()
	if err != nil {
		return err
	}
	return s.Wait(e)
}

// fetchPeer copies from another device: directly if the devices reach each other, and otherwise through
// page-locked memory of the host. It waits for nothing that the stream does not wait for.
func (s *Stream) fetchPeer(to drv.DevicePtr, other *Device, from drv.DevicePtr, n int) error {
	d := s.d
	if d.reaches(other) {
		return s.do(func() error {
			return d.check(d.drv.CopyPeerAsync(to, d.ctx, from, other.ctx, uint64(n), s.handle), s)
		})
	}
	for at := 0; at < n; at += chunkBytes {
		if err := s.fetchChunk(to+drv.DevicePtr(at), other, from+drv.DevicePtr(at), min(chunkBytes, n-at)); err != nil {
			return err
		}
	}
	return nil
}

// fetchChunk copies at most chunkBytes to the host, on the other device's default stream, and from there
// on the stream.
func (s *Stream) fetchChunk(to drv.DevicePtr, other *Device, from drv.DevicePtr, n int) error {
	d := s.d
	c, err := d.staging.acquire(context.Background())
	if err != nil {
		return err
	}
	defer d.staging.done(c) // its event keeps it until the copy has ended
	other.traffic.fetch(n)
	d.traffic.send(n)
	err = other.do(func() error {
		return other.check(other.drv.CopyOutAsync(c.address, from, uint64(n), other.compute.handle), other.compute)
	})
	if err != nil {
		return err
	}
	if err = s.waitFor(other.compute); err == nil {
		err = s.do(func() error {
			if err := d.drv.CopyInAsync(to, c.address, uint64(n), s.handle); err != nil {
				return d.check(err, s)
			}
			return d.staging.sent(c, s)
		})
	}
	if err != nil { // nothing marks the chunk, so the copy into it must have ended
		other.do(func() error { return other.check(other.drv.StreamSynchronize(other.compute.handle), other.compute) })
	}
	return err
}
