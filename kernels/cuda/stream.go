// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// Stream is a queue of work. Work on one stream is done in the order in which it was put there;
// only events order the work of different streams.
type Stream struct {
	d       *Device
	handle  drv.Stream
	name    string
	closed  atomic.Bool             // nothing may be put on it any more
	done    atomic.Bool             // and everything that was has been waited for
	capture atomic.Pointer[capture] // the graph that the stream collects, or nil
	synced  atomic.Uint64           // serial number of the last launch that is known to have succeeded
}

// NewStream makes a stream. Of the streams that have work, those with lower priority numbers go
// first. The usual priority is 0; numbers that the device does not support are moved into its
// range.
func (d *Device) NewStream(priority int) (*Stream, error) {
	s, err := d.userStream(priority)
	if err == nil {
		d.list(s)
	}
	return s, err
}

// lanes is the number of streams that Lane gives out.
const lanes = 8

// Lane returns one of a few streams, in turn, that stay open as long as the device. Work of callers
// that do not wait for each other overlaps on them.
func (d *Device) Lane() (*Stream, error) {
	d.streams.Lock()
	k := d.nextLane % lanes
	d.nextLane++
	s := d.lanes[k]
	d.streams.Unlock()
	if s != nil {
		return s, nil
	}
	s, err := d.NewStream(0)
	if err != nil {
		return nil, err
	}
	d.streams.Lock()
	other := d.lanes[k]
	if other == nil {
		d.lanes[k] = s
	}
	d.streams.Unlock()
	if other != nil { // made by another goroutine meanwhile
		return other, s.Close()
	}
	return s, nil
}

func (d *Device) isLane(s *Stream) bool {
	d.streams.Lock()
	defer d.streams.Unlock()
	return slices.Contains(d.lanes[:], s)
}

// userStream makes a stream with a name of its own.
func (d *Device) userStream(priority int) (s *Stream, err error) {
	err = d.do(func() (err error) {
		s, err = d.newStream(fmt.Sprintf("user%d", d.launches.streams.Add(1)), priority)
		return err
	})
	return s, err
}

func (d *Device) newStream(name string, priority int) (*Stream, error) {
	h, err := d.drv.StreamCreate(priority)
	if err != nil {
		return nil, d.check(err, nil)
	}
	s := &Stream{d: d, handle: h, name: name}
	return s, nil
}

// list adds a stream to those that Synchronize and Close wait for. The stream of a capture is not
// among them: asking about it would spoil the capture.
func (d *Device) list(s *Stream) {
	d.streams.Lock()
	d.allStreams[s] = true
	d.streams.Unlock()
}

// Device returns the device of the stream.
func (s *Stream) Device() *Device { return s.d }

// String returns the name of the stream, as in error messages.
func (s *Stream) String() string { return s.name }

// Close waits for the work of the stream and destroys it. Buffers that were allocated on it stay
// valid. The streams that every device has are not closed.
func (s *Stream) Close() error {
	d := s.d
	if s == d.compute || s == d.in || s == d.out || d.isLane(s) || !s.closed.CompareAndSwap(false, true) {
		return nil
	}
	err := d.do(func() error { return d.check(d.drv.StreamSynchronize(s.handle), s) })
	if e := s.destroy(); err == nil { // which waits once more; a lost device takes its streams with it
		err = e
	}
	return closing(err)
}

// destroy gives the stream back while nobody is inside the driver: whoever comes later finds it closed,
// and what somebody put on it until now is waited for.
func (s *Stream) destroy() error {
	d := s.d
	d.life.Lock()
	defer d.life.Unlock()
	if d.closed || d.lost.Load() != nil {
		return nil
	}
	if err := d.drv.Enter(d.ctx); err != nil {
		return d.check(err, s)
	}
	defer d.drv.Leave()
	if err := d.drv.StreamSynchronize(s.handle); err != nil {
		return d.check(err, s)
	}
	s.done.Store(true)
	d.streams.Lock()
	delete(d.allStreams, s)
	d.streams.Unlock()
	d.staging.forget(s)
	d.libraries.forget(s)
	d.pool.adopt(s, d.compute)
	return d.check(d.drv.StreamDestroy(s.handle), s)
}

// do runs f inside the driver unless the stream is closed.
func (s *Stream) do(f func() error) error {
	return s.d.do(func() error {
		if err := s.usable(); err != nil {
			return err
		}
		return f()
	})
}

// usable returns an error if the stream is closed. Inside the driver the answer stays true: streams are
// destroyed while nobody is.
func (s *Stream) usable() error {
	if s.closed.Load() {
		return fmt.Errorf("%w: stream %s of device %d was closed: make a new one", ErrClosed, s.name, s.d.ordinal)
	}
	return nil
}

// Synchronize waits for all work that is on the stream now. If the context is cancelled it returns
// the context's cause at once, but work that is running goes on, because kernels cannot be stopped.
func (s *Stream) Synchronize(ctx context.Context) error {
	if err := s.d.refuse("Stream.Synchronize", "it would wait for work that runs only when the graph is launched: call it after the capture"); err != nil {
		return err
	}
	return s.wait(ctx)
}

func (s *Stream) wait(ctx context.Context) error {
	d := s.d
	serial := d.launches.last()
	var e drv.Event
	err := d.do(func() (err error) {
		if err = s.usable(); err != nil {
			return err
		}
		e, err = s.mark()
		return err
	})
	if err != nil {
		return err
	}
	if err = d.await(ctx, e, s); err != nil {
		return err
	}
	s.synced.Store(max(serial, s.synced.Load()))
	return nil
}

// mark records an event of the device's list.
func (s *Stream) mark() (drv.Event, error) {
	if s.done.Load() {
		return 0, s.usable()
	}
	e, err := s.d.events.get(s.d.drv)
	if err != nil {
		return 0, s.d.check(err, s)
	}
	if err := s.d.drv.EventRecord(e, s.handle); err != nil {
		s.d.events.put(e)
		return 0, s.d.check(err, s)
	}
	return e, nil
}

// await polls an event of the device's list and puts it back. The driver is left between two looks,
// so that a long wait does not hold up Close.
func (d *Device) await(ctx context.Context, e drv.Event, s *Stream) error {
	err := poll(ctx, func() (ok bool, err error) {
		err = d.do(func() error {
			var e1 error
			ok, e1 = d.drv.EventQuery(e)
			return d.check(e1, s)
		})
		return ok, err
	})
	d.events.put(e) // recorded anew before its next use, so it may still be pending
	return err
}

// Record returns an event that stands for all work that is on the stream now.
func (s *Stream) Record() (*Event, error) {
	d := s.d
	var e *Event
	err := d.do(func() error {
		if err := s.usable(); err != nil {
			return err
		}
		h, err := s.mark()
		if err == nil {
			e = newEvent(d, h)
			e.capture = s.capture.Load()
		}
		return err
	})
	return e, err
}

// Wait makes work that is put on the stream from now on wait for an event, which may belong to
// another device.
func (s *Stream) Wait(e *Event) error {
	d := s.d
	return d.do(func() error {
		if err := s.usable(); err != nil {
			return err
		}
		if err := d.check(d.drv.StreamWait(s.handle, e.handle), s); err != nil {
			return err
		}
		if e.capture != nil { // the stream collects work for the same graph from now on
			e.capture.join(s)
		}
		return nil
	})
}

// follow lets work of s wait for all work that is on another stream now.
func (s *Stream) follow(other *Stream) error {
	if s.done.Load() {
		return s.usable()
	}
	e, err := other.mark()
	if err != nil {
		return err
	}
	defer s.d.events.put(e)
	return s.d.check(s.d.drv.StreamWait(s.handle, e), s)
}

// Follow makes work that is put on the stream from now on wait for all work that is now on another
// stream of the device.
func (s *Stream) Follow(other *Stream) error {
	if other.d != s.d {
		return fmt.Errorf("%w: stream %s is on device %d, but a stream of device %d is needed: use an event to wait for another device", ErrArgument, other.name, other.d.ordinal, s.d.ordinal)
	}
	return s.do(func() error {
		if err := s.usable(); err != nil {
			return err
		}
		return s.follow(other)
	})
}
