// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/kernels/cuda/lib"
)

// tool is a handle, plan or workspace that one stream or one graph uses at a time.
type tool struct {
	handle  lib.Handle
	second  lib.Handle    // settings that belong to it
	shape   lib.Described // of a convolution
	bytes   int           // that a plan works in
	block   *block        // of a workspace
	graphs  int           // that hold it
	destroy func() error

	event  drv.Event // its last use
	used   bool      // the event was recorded
	last   *Stream   // where it was used last, nil for a graph
	serial uint64    // of its last use
}

// binding says who has a tool: a stream, or the part of a graph that was captured on one.
type binding struct {
	stream *Stream
	graph  *capture // nil for a stream
	key    any
}

// held is a tool of a graph.
type held struct {
	at   binding
	tool *tool
}

// Keys of tools. That of a plan or of a convolution is its description.
type (
	blasKey   struct{}
	solverKey struct{}
	dnnKey    struct{}
	workKey   struct{}
)

// maxPlans is how many Fourier plans and convolutions streams keep; the one that was not used for
// longest goes first.
const maxPlans = 64

// take returns the tool of a stream, after what used it before: the one that it has, one that nobody
// has, or a new one. Inside a capture nothing can be made, so a tool changes hands.
func (l *Libraries) take(s *Stream, key any, enough func(*tool) bool, create func() (*tool, error)) (*tool, error) {
	l.collect()
	at := binding{s, s.capture.Load(), key}
	t := l.bound[at]
	if t == nil || !enough(t) {
		var err error
		if t, err = l.find(at, enough, create); err != nil {
			return nil, err
		}
	}
	l.serial++
	t.serial = l.serial
	if at.graph == nil && t.used && t.last != s {
		if err := l.d.drv.StreamWait(s.handle, t.event); err != nil {
			return nil, err
		}
	}
	if t.block != nil {
		l.d.pool.usedBy(t.block, s)
		l.d.keep(t.block)
	}
	l.touched = append(l.touched, t)
	return t, nil
}

// find gives a tool to a stream or graph that has none, or none that is enough.
func (l *Libraries) find(at binding, enough func(*tool) bool, create func() (*tool, error)) (*tool, error) {
	t := l.spare(at.key, enough)
	if t == nil && l.d.captures.current() == nil {
		if old := l.bound[at]; old != nil { // a workspace that is too small
			delete(l.bound, at)
			if err := l.destroy(old); err != nil {
				return nil, err
			}
		}
		var err error
		if t, err = create(); err != nil {
			return nil, err
		}
		if t.event, err = l.d.drv.EventCreate(false); err != nil {
			t.event = 0
			l.destroy(t)
			return nil, err
		}
	} else if t == nil {
		if t = l.inherit(at, enough); t == nil {
			t = l.steal(at.key, enough)
		}
		if t == nil {
			return nil, l.d.refuse("Libraries", "no handle, plan or workspace is left for it: do the same work once before the capture, on as many streams")
		}
	}
	if old := l.bound[at]; old != nil && at.graph == nil {
		l.idle[at.key] = append(l.idle[at.key], old)
	}
	l.bound[at] = t
	if at.graph != nil {
		at.graph.tools = append(at.graph.tools, held{at, t})
		t.graphs++
	}
	return t, nil
}

// spare returns a tool that nobody has, or nil.
func (l *Libraries) spare(key any, enough func(*tool) bool) *tool {
	list := l.idle[key]
	for i, t := range list {
		if enough(t) {
			l.idle[key] = append(list[:i:i], list[i+1:]...)
			return t
		}
	}
	return nil
}

// inherit returns a tool of the graph that a capture is to replace, which keeps it until then.
func (l *Libraries) inherit(at binding, enough func(*tool) bool) *tool {
	if at.graph == nil || at.graph.before == nil {
		return nil
	}
	for _, h := range at.graph.before.tools {
		taken := false
		for _, mine := range at.graph.tools {
			taken = taken || mine.tool == h.tool
		}
		if h.at.key == at.key && !taken && enough(h.tool) {
			return h.tool
		}
	}
	return nil
}

// steal takes the tool that was used last from a stream, which gets another when it needs one.
func (l *Libraries) steal(key any, enough func(*tool) bool) *tool {
	var from binding
	var best *tool
	for at, t := range l.bound {
		if at.graph == nil && at.key == key && enough(t) && (best == nil || t.serial > best.serial) {
			from, best = at, t
		}
	}
	if best != nil {
		delete(l.bound, from)
	}
	return best
}

// leave notes that the call's tools are in use on a stream. A graph notes that when it is launched.
func (l *Libraries) leave(s *Stream) error {
	if s.capture.Load() != nil {
		return nil
	}
	for _, t := range l.touched {
		if err := l.d.drv.EventRecord(t.event, s.handle); err != nil {
			return err
		}
		t.used, t.last = true, s
	}
	return nil
}

// collect takes back the tools of graphs that ended.
func (l *Libraries) collect() {
	for _, c := range l.returned.take() {
		for _, h := range c.tools {
			delete(l.bound, h.at)
			if h.tool.graphs--; h.tool.graphs == 0 {
				l.idle[h.at.key] = append(l.idle[h.at.key], h.tool)
			}
		}
	}
}

// forget takes back the tools of a stream that is closed; its work is done.
func (l *Libraries) forget(s *Stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at, t := range l.bound {
		if at.stream == s && at.graph == nil {
			delete(l.bound, at)
			l.idle[at.key] = append(l.idle[at.key], t)
		}
	}
}

// limit destroys the tool of these keys that was not used for longest, if streams have too many.
func (l *Libraries) limit(is func(key any) bool) error {
	var oldest binding
	var best *tool
	n := 0
	for at, t := range l.bound {
		if at.graph == nil && is(at.key) {
			n++
			if best == nil || t.serial < best.serial {
				oldest, best = at, t
			}
		}
	}
	if n < maxPlans {
		return nil
	}
	delete(l.bound, oldest)
	return l.destroy(best)
}

// destroy gives a tool back. Its memory is reused after its last work; a handle or plan waits for that.
func (l *Libraries) destroy(t *tool) error {
	var err error
	if t.used && t.destroy != nil {
		err = l.d.drv.EventSynchronize(t.event)
	}
	if t.destroy != nil {
		if e := t.destroy(); err == nil {
			err = e
		}
	}
	if t.block != nil {
		l.d.pool.release(t.block)
	}
	if t.event != 0 {
		l.d.drv.EventDestroy(t.event)
	}
	return err
}

func always(*tool) bool { return true }

// work returns memory for a call on a stream, at an address that is a multiple of 512.
func (l *Libraries) work(s *Stream, bytes int) (drv.DevicePtr, error) {
	if bytes == 0 {
		return 0, nil
	}
	t, err := l.take(s, workKey{}, func(t *tool) bool { return int(t.block.size) >= bytes }, func() (*tool, error) {
		b, err := l.d.pool.alloc(uint64(bytes), s, "workspaces of libraries")
		return &tool{block: b}, err
	})
	if err != nil {
		return 0, err
	}
	return t.block.address(), nil
}

// beforeGraph lets a launch of a graph wait for what its tools did last, afterGraph notes the launch.
func (c *capture) beforeGraph(s *Stream) error {
	if s.capture.Load() != nil {
		return nil
	}
	for _, h := range c.tools {
		if h.tool.used && h.tool.last != s {
			if err := c.d.drv.StreamWait(s.handle, h.tool.event); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *capture) afterGraph(s *Stream) error {
	if s.capture.Load() != nil {
		return nil
	}
	for _, h := range c.tools {
		if err := c.d.drv.EventRecord(h.tool.event, s.handle); err != nil {
			return err
		}
		h.tool.used, h.tool.last = true, s
	}
	return nil
}
