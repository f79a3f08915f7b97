// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// capture is a graph that is being collected by the goroutine that called Capture, which is tied to
// its thread meanwhile.
type capture struct {
	d       *Device
	thread  int
	blocks  map[*block]bool // memory that the graph uses
	streams []*Stream       // that collect work for it
	tools   []held          // of libraries, that the graph uses
	before  *capture        // the graph that this one is to replace, or nil
	err     error           // the first call that was refused
}

// captures finds the capture of a thread.
type captures struct {
	n  atomic.Int32 // so that launches outside of captures pay nothing
	mu sync.Mutex
	by map[int]*capture
}

// current returns the capture of the calling goroutine, or nil.
func (cs *captures) current() *capture {
	if cs.n.Load() == 0 {
		return nil
	}
	t := thread()
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.by[t]
}

func (cs *captures) begin(c *capture) error {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.by[c.thread] != nil {
		return &CaptureError{"Device.Capture", "a capture is already in progress: end it first"}
	}
	if cs.by == nil {
		cs.by = map[int]*capture{}
	}
	cs.by[c.thread] = c
	cs.n.Add(1)
	return nil
}

func (cs *captures) end(c *capture) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.by, c.thread)
	cs.n.Add(-1)
}

// refuse returns an error if the calling goroutine captures a graph, and makes the capture fail even
// if the caller ignores that.
func (d *Device) refuse(call, reason string) error {
	c := d.captures.current()
	if c == nil {
		return nil
	}
	err := &CaptureError{call, reason}
	if c.err == nil {
		c.err = err
	}
	return err
}

// keep notes that the graph which the calling goroutine captures uses a block.
func (d *Device) keep(b *block) {
	if c := d.captures.current(); c != nil && !c.blocks[b] {
		c.blocks[b] = true
		d.pool.pin(b)
	}
}

// join notes that a stream collects work too.
func (c *capture) join(s *Stream) {
	if s.capture.CompareAndSwap(nil, c) {
		c.streams = append(c.streams, s)
	}
}

// release lets go of the memory of a capture that came to nothing.
func (c *capture) release() {
	p := c.d.pool
	err := c.d.do(func() error {
		for b := range c.blocks {
			p.unpin(b)
		}
		return nil
	})
	if err != nil { // the next allocation does it, as for a graph without a handle
		g := &graphState{c: c}
		p.addGraph(g)
		p.graphs.add(g)
		return
	}
	c.d.libraries.returned.add(c)
}

// collectGraph runs f while a new stream collects the work, for a new graph or in the place of another.
func (d *Device) collectGraph(before *capture, f func(*Stream) error) (*capture, drv.Graph, error) {
	if !d.drv.Has(drv.FeatureGraphs) {
		return nil, 0, fmt.Errorf("%w: graphs need a driver for CUDA 11.4 or newer, but this one supports %d.%d: install a newer driver", ErrUnsupported, d.info.DriverVersion/1000, d.info.DriverVersion%1000/10)
	}
	if err := d.refuse("Device.Capture", "a capture is already in progress: end it first"); err != nil {
		return nil, 0, err
	}
	s, err := d.userStream(0)
	if err != nil {
		return nil, 0, err
	}
	defer s.Close()
	lockThread()
	defer unlockThread()
	c := &capture{d: d, thread: thread(), blocks: map[*block]bool{}, before: before}
	if err := d.captures.begin(c); err != nil {
		return nil, 0, err
	}
	if err := d.do(func() error { return d.check(d.drv.CaptureBegin(s.handle), s) }); err != nil {
		d.captures.end(c)
		return nil, 0, err
	}
	c.join(s)
	graph, err := c.run(s, f)
	c.before = nil
	if err != nil {
		c.release()
		return nil, 0, err
	}
	return c, graph, nil
}

// run calls f and ends the capture, whatever f does.
func (c *capture) run(s *Stream, f func(*Stream) error) (graph drv.Graph, err error) {
	d := c.d
	ended := false
	end := func() (g drv.Graph, err error) {
		ended = true
		err = d.do(func() error {
			var e error
			g, e = d.drv.CaptureEnd(s.handle)
			return d.check(e, s)
		})
		if lost := d.lost.Load(); lost != nil && errors.Is(err, ErrDeviceLost) {
			d.drv.CaptureEnd(s.handle) // or whatever this thread does on another device would belong to the capture
		}
		for _, t := range c.streams {
			t.capture.Store(nil)
		}
		d.captures.end(c)
		return g, err
	}
	defer func() {
		if !ended { // f panicked
			if g, err := end(); err == nil {
				d.do(func() error { return d.drv.GraphDestroy(g) })
			}
			c.release()
		}
	}()
	err = f(s)
	graph, e := end()
	if c.err != nil && err == nil {
		err = c.err
	}
	if err == nil {
		return graph, e
	}
	if graph != 0 {
		d.do(func() error { return d.drv.GraphDestroy(graph) })
	}
	return 0, err
}
