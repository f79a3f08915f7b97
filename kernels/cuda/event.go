// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"runtime"
	"sync"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// Event stands for the work that was on a stream when it was recorded.
type Event struct {
	d       *Device
	handle  drv.Event
	capture *capture // the graph for which it was recorded, or nil
}

// newEvent returns an event whose handle goes back to the list once nobody refers to it.
func newEvent(d *Device, h drv.Event) *Event {
	e := &Event{d: d, handle: h}
	runtime.AddCleanup(e, d.events.put, h)
	return e
}

// Done reports whether the work has finished.
func (e *Event) Done() (bool, error) {
	d := e.d
	if err := d.refuse("Event.Done", "the work runs only when the graph is launched: ask after the launch"); err != nil {
		return false, err
	}
	var ok bool
	err := d.do(func() error {
		var err error
		ok, err = d.drv.EventQuery(e.handle)
		return d.check(err, nil)
	})
	runtime.KeepAlive(e)
	return ok, err
}

// Synchronize waits for the work, or until the context is cancelled.
func (e *Event) Synchronize(ctx context.Context) error {
	return poll(ctx, e.Done)
}

// eventList keeps events without timing for their next use. An event may be put back while it is
// pending: the next use records it anew, and who waits for it has asked before.
type eventList struct {
	mu   sync.Mutex
	free []drv.Event
	all  []drv.Event
}

func (l *eventList) get(d drv.Provider) (drv.Event, error) {
	l.mu.Lock()
	if n := len(l.free); n > 0 {
		e := l.free[n-1]
		l.free = l.free[:n-1]
		l.mu.Unlock()
		return e, nil
	}
	l.mu.Unlock()
	e, err := d.EventCreate(false)
	if err == nil {
		l.mu.Lock()
		l.all = append(l.all, e)
		l.mu.Unlock()
	}
	return e, err
}

// put is called by cleanups too, so it does not call the driver.
func (l *eventList) put(e drv.Event) {
	l.mu.Lock()
	l.free = append(l.free, e)
	l.mu.Unlock()
}

// destroy gives back all events, also those that users still hold.
func (l *eventList) destroy(d drv.Provider) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.all {
		d.EventDestroy(e)
	}
	l.free, l.all = nil, nil
}
