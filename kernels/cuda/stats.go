// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import "sync/atomic"

// Stats describes the memory that a device has handed out and the transfers over the bus, in bytes
// and counts.
type Stats struct {
	Device       int    `json:"device_id"`
	Reserved     uint64 `json:"total_allocated"`  // bytes taken from the driver
	Active       uint64 `json:"active_memory"`    // bytes in buffers, rounded up
	PeakReserved uint64 `json:"peak_allocated"`   // largest value of Reserved, in bytes
	Allocations  uint64 `json:"allocation_count"` // number of buffers that were made
	Frees        uint64 `json:"free_count"`       // number of buffers that were freed
	Blocks       int    `json:"pool_blocks"`      // number of free pieces in the cache
	PeakActive   uint64 `json:"peak_active"`      // largest value of Active, in bytes
	Cached       uint64 `json:"cached"`           // bytes reserved but not in buffers
	LargestFree  uint64 `json:"largest_free"`     // largest free piece in the cache, in bytes
	Retries      uint64 `json:"oom_retries"`      // number of times that memory was short
	DriverCalls  uint64 `json:"driver_calls"`     // number of calls that took memory from the driver or gave it back
	Sent         uint64 `json:"sent"`             // bytes copied from the host to the device
	Fetched      uint64 `json:"fetched"`          // bytes copied from the device to the host
	Copies       uint64 `json:"copies"`           // number of copies in either direction
}

// Stats returns the counts since the device was opened or since ResetPeak.
func (d *Device) Stats() Stats {
	p := d.pool
	if d.enter() == nil {
		defer d.leave()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.drainForgotten()
		p.reclaim()
		return p.snapshot()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.snapshot()
}

// ResetPeak sets the peaks to what is in use now, and the counts of copies to 0.
func (d *Device) ResetPeak() {
	p := d.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.PeakReserved, p.stats.PeakActive = p.stats.Reserved, p.stats.Active
	d.traffic.sent.Store(0)
	d.traffic.fetched.Store(0)
	d.traffic.copies.Store(0)
}

func (p *pool) snapshot() Stats {
	st := p.stats
	st.Device = p.d.ordinal
	st.Sent, st.Fetched, st.Copies = p.d.traffic.sent.Load(), p.d.traffic.fetched.Load(), p.d.traffic.copies.Load()
	if p.kind == Async {
		if p.async != 0 && p.idle != nil {
			st.Reserved, _ = p.d.drv.PoolReserved(p.async)
		}
		st.PeakReserved = max(st.PeakReserved, st.Reserved)
		p.stats.PeakReserved = st.PeakReserved
	}
	for _, list := range p.idle {
		st.Blocks += len(list)
		if n := len(list); n > 0 {
			st.LargestFree = max(st.LargestFree, list[n-1].size)
		}
	}
	st.Cached = st.Reserved - min(st.Reserved, st.Active)
	return st
}

// traffic counts what crossed the bus between the host and the device.
type traffic struct{ sent, fetched, copies atomic.Uint64 }

func (t *traffic) send(n int) {
	t.sent.Add(uint64(n))
	t.copies.Add(1)
}

func (t *traffic) fetch(n int) {
	t.fetched.Add(uint64(n))
	t.copies.Add(1)
}
