// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package drv

import "unsafe"

// StreamCreate makes a stream that does not wait for the legacy stream. Lower numbers have priority.
func (d *Driver) StreamCreate(priority int) (Stream, error) {
	const nonBlocking = 1
	s := new(Stream)
	err := d.call(cuStreamCreateWithPriority, uintptr(unsafe.Pointer(s)), nonBlocking, uintptr(priority))
	return *s, err
}

// StreamDestroy destroys a stream after its remaining work has finished.
func (d *Driver) StreamDestroy(s Stream) error { return d.call(cuStreamDestroy, uintptr(s)) }

// StreamSynchronize waits for all work of a stream.
func (d *Driver) StreamSynchronize(s Stream) error {
	return d.errorOf(cuStreamSynchronize, d.hot1(cuStreamSynchronize, uintptr(s)))
}

// StreamQuery reports whether a stream has finished all its work.
func (d *Driver) StreamQuery(s Stream) (bool, error) {
	return d.ready(cuStreamQuery, d.hot1(cuStreamQuery, uintptr(s)))
}

// StreamWait makes work that is put on a stream from now on wait for an event.
func (d *Driver) StreamWait(s Stream, e Event) error {
	a := freeSlots.Get().(*slots)
	a[0], a[1], a[2] = uintptr(s), uintptr(e), 0
	return d.errorOf(cuStreamWaitEvent, d.hot(cuStreamWaitEvent, a, 3))
}

// EventCreate makes an event; those without timing are cheaper.
func (d *Driver) EventCreate(timing bool) (Event, error) {
	flags := uintptr(2) // no timing
	if timing {
		flags = 0
	}
	e := new(Event)
	err := d.call(cuEventCreate, uintptr(unsafe.Pointer(e)), flags)
	return *e, err
}

// EventDestroy destroys an event.
func (d *Driver) EventDestroy(e Event) error { return d.call(cuEventDestroy, uintptr(e)) }

// EventRecord makes an event stand for all work that is on a stream now.
func (d *Driver) EventRecord(e Event, s Stream) error {
	return d.errorOf(cuEventRecord, d.hot2(cuEventRecord, uintptr(e), uintptr(s)))
}

// EventQuery reports whether the work for which an event stands has finished.
func (d *Driver) EventQuery(e Event) (bool, error) {
	return d.ready(cuEventQuery, d.hot1(cuEventQuery, uintptr(e)))
}

// EventSynchronize waits for the work for which an event stands.
func (d *Driver) EventSynchronize(e Event) error { return d.call(cuEventSynchronize, uintptr(e)) }

// EventElapsed returns the time in ms between two events, which must have finished and must have
// been made with timing.
func (d *Driver) EventElapsed(from, to Event) (float64, error) {
	ms := new(float32)
	err := d.call(cuEventElapsedTime, uintptr(unsafe.Pointer(ms)), uintptr(from), uintptr(to))
	return float64(*ms), err
}

// ready turns the result of a query into an answer.
func (d *Driver) ready(s symbol, r Result) (bool, error) {
	if r == NotReady {
		return false, nil
	}
	return r == Success, d.errorOf(s, r)
}
