// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// Graph is work that was captured once and can be launched as a whole, many times, for about the
// price of one kernel. It keeps the memory of the buffers that it uses, at their addresses. It must
// be closed; a graph that is no longer referenced is closed when memory is short.
type Graph struct {
	d      *Device
	mu     sync.Mutex
	state  *graphState
	net    runtime.Cleanup
	closed bool
}

// graphState is what a graph has to give back.
type graphState struct {
	exec drv.GraphExec
	c    *capture
}

// Capture collects what f puts on a stream as a graph; nothing of it runs now. The function does all of
// it on its own goroutine. It may use other streams, as long as they wait for an event of the first one
// and the first waits for events of them in the end.
//
// Allocating, waiting, compiling, and copies from and to the host are not possible inside: such a call
// returns a *CaptureError that names it, and so does Capture. Numbers that change between launches
// belong into a small buffer that is written before each of them.
func (d *Device) Capture(f func(*Stream) error) (*Graph, error) {
	c, graph, err := d.collectGraph(nil, f)
	if err != nil {
		return nil, err
	}
	g := &Graph{d: d, state: &graphState{c: c}}
	err = d.do(func() (err error) {
		defer d.drv.GraphDestroy(graph)
		g.state.exec, err = d.drv.GraphInstantiate(graph)
		return d.check(err, nil)
	})
	if err != nil {
		c.release()
		return nil, err
	}
	d.pool.addGraph(g.state)
	g.net = runtime.AddCleanup(g, d.pool.graphs.add, g.state)
	return g, nil
}

// Launch puts all work of the graph on a stream.
func (g *Graph) Launch(s *Stream) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.d
	if g.closed {
		return fmt.Errorf("%w: the graph was closed: capture it again", ErrClosed)
	}
	if s.d != d {
		return fmt.Errorf("%w: the graph is on device %d, but stream %s is on device %d: use a stream of the graph's device", ErrArgument, d.ordinal, s.name, s.d.ordinal)
	}
	for b := range g.state.c.blocks {
		d.pool.usedBy(b, s)
	}
	return s.do(func() error {
		info := d.launches.add(s, LaunchInfo{Kernel: "graph", Stream: s.name})
		span := d.profile.begin(s)
		if err := g.state.c.beforeGraph(s); err != nil {
			return d.check(err, s)
		}
		if err := d.drv.GraphLaunch(g.state.exec, s.handle); err != nil {
			return launchError(d, s, err, info)
		}
		if err := g.state.c.afterGraph(s); err != nil {
			return d.check(err, s)
		}
		d.profile.endKernel(span, s, "graph")
		if d.wait {
			if err := d.drv.StreamSynchronize(s.handle); err != nil {
				return launchError(d, s, err, info)
			}
			s.synced.Store(info.Serial)
		}
		return nil
	})
}

// Update captures again and puts the new arguments and geometries into the graph. If the work has
// another shape, or the driver cannot change graphs, the graph is made anew. Launches that are
// still running are not disturbed. If Update fails, the graph stays as it was.
func (g *Graph) Update(f func(*Stream) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.d
	if g.closed {
		return fmt.Errorf("%w: the graph was closed: capture it again", ErrClosed)
	}
	c, graph, err := d.collectGraph(g.state.c, f)
	if err != nil {
		return err
	}
	err = d.do(func() error {
		defer d.drv.GraphDestroy(graph)
		err := ErrUnsupported
		if d.drv.Has(drv.FeatureGraphUpdate) {
			err = d.drv.GraphUpdate(g.state.exec, graph)
		}
		if errors.Is(err, drv.GraphExecUpdateFailure) || errors.Is(err, ErrUnsupported) {
			return g.replace(graph)
		}
		return d.check(err, nil)
	})
	if err != nil {
		c.release()
		return err
	}
	g.state.c.release()
	g.state.c = c
	return nil
}

// replace instantiates a graph in the place of the present one.
func (g *Graph) replace(graph drv.Graph) error {
	d := g.d
	e, err := d.drv.GraphInstantiate(graph)
	if err != nil {
		return d.check(err, nil)
	}
	d.drv.GraphExecDestroy(g.state.exec)
	g.state.exec = e
	return nil
}

// Close frees the graph and releases the buffers that it uses. Launches that are still running
// finish. Closing the device closes its graphs too.
func (g *Graph) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	g.net.Stop()
	p := g.d.pool
	ended := false
	err := g.d.do(func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		ended = true
		return p.endGraph(g.state)
	})
	if !ended { // the next allocation does it, unless the device is closed or lost
		p.graphs.add(g.state)
	}
	return closing(err)
}
