// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"sync"
	"time"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// profiler times launches and copies by pairs of events, which are looked at when there are many, or
// when a report is asked for. A nil profiler does nothing.
type profiler struct {
	d       *Device
	started time.Time

	mu       sync.Mutex
	idle     []drv.Event // with timing
	all      []drv.Event
	pending  []*span
	origin   drv.Event // what the times of a trace count from
	kernels  map[string]*timing
	copies   map[string]*timing
	compiles map[string]*timing
	trace    []traceEvent
	dropped  int // trace events that there was no room for
}

// span is a piece of work between two events of one device.
type span struct {
	from, to drv.Event
	name     string
	stream   string
	bytes    int // of a copy
	copied   bool
	host     time.Time // when the caller began
	hostTook time.Duration
}

// maxPending is how many pairs of events are open before they are looked at.
const maxPending = 2048

func newProfiler(d *Device) *profiler {
	return &profiler{d: d, started: time.Now(), kernels: map[string]*timing{}, copies: map[string]*timing{}, compiles: map[string]*timing{}}
}

// begin marks the start of work on a stream. The caller has entered the device. It returns nil if the
// work is not timed: without a profiler, and while a graph is captured.
func (p *profiler) begin(s *Stream) *span {
	if p == nil || s.done.Load() || s.capture.Load() != nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.origin == 0 {
		if p.origin = p.event(); p.origin == 0 || p.d.drv.EventRecord(p.origin, s.handle) != nil {
			return nil
		}
	}
	sp := &span{host: time.Now()}
	if sp.from = p.event(); sp.from == 0 || p.d.drv.EventRecord(sp.from, s.handle) != nil {
		return nil
	}
	return sp
}

// event returns an event with timing, or 0 if there is none to be had.
func (p *profiler) event() drv.Event {
	if n := len(p.idle); n > 0 {
		e := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return e
	}
	e, err := p.d.drv.EventCreate(true)
	if err != nil {
		return 0
	}
	p.all = append(p.all, e)
	return e
}

// end marks the end of work. The caller has entered the device.
func (p *profiler) end(sp *span, s *Stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	sp.stream, sp.hostTook = s.name, time.Since(sp.host)
	if s.done.Load() {
		return
	}
	if sp.to = p.event(); sp.to == 0 || p.d.drv.EventRecord(sp.to, s.handle) != nil {
		return
	}
	p.pending = append(p.pending, sp)
	if len(p.pending) >= maxPending {
		p.resolve()
	}
}

// endKernel marks the end of a launch.
func (p *profiler) endKernel(sp *span, s *Stream, name string) {
	if sp != nil {
		sp.name = name
		p.end(sp, s)
	}
}

// beginCopy is begin for callers that have not entered the device.
func (p *profiler) beginCopy(s *Stream) (sp *span) {
	if p != nil {
		p.d.do(func() error { sp = p.begin(s); return nil })
	}
	return sp
}

// endCopy marks the end of a copy, on the stream that it ended on.
func (p *profiler) endCopy(sp *span, s *Stream, direction string, bytes int) {
	if sp != nil {
		sp.name, sp.bytes, sp.copied = direction, bytes, true
		p.d.do(func() error { p.end(sp, s); return nil })
	}
}

// endCompile notes the time of a compilation.
func (p *profiler) endCompile(start time.Time, name string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	ms := time.Since(start).Seconds() * 1000
	timingOf(p.compiles, name).add(ms, 0, 0)
	p.note(traceEvent{Name: "compile " + name, Category: "compile", Begin: start.Sub(p.started).Seconds() * 1e6, Took: ms * 1000, Thread: "host"})
}

// resolve reads the times of the work that has finished, in the order in which it was begun.
func (p *profiler) resolve() {
	d := p.d.drv
	kept := p.pending[:0]
	for _, sp := range p.pending {
		if done, err := d.EventQuery(sp.to); !done || err != nil {
			kept = append(kept, sp)
			continue
		}
		took, err := d.EventElapsed(sp.from, sp.to)
		begin, err2 := d.EventElapsed(p.origin, sp.from)
		p.idle = append(p.idle, sp.from, sp.to)
		if err != nil || err2 != nil {
			continue
		}
		host := sp.hostTook.Seconds() * 1000
		name, category := sp.name, "kernel"
		if sp.copied {
			timingOf(p.copies, transferKey(sp.name, sp.bytes, p.copies)).add(took, sp.bytes, host)
			category = "copy"
		} else {
			timingOf(p.kernels, name).add(took, 0, host)
		}
		p.note(traceEvent{Name: name, Category: category, Begin: begin * 1000, Took: took * 1000, Thread: sp.stream, Bytes: sp.bytes})
	}
	clear(p.pending[len(kept):])
	p.pending = kept
}

// note keeps an event of the trace while there is room.
func (p *profiler) note(e traceEvent) {
	const room = 100000
	if len(p.trace) >= room {
		p.dropped++
		return
	}
	p.trace = append(p.trace, e)
}

// free gives the events back, at the end.
func (p *profiler) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.all {
		p.d.drv.EventDestroy(e)
	}
	p.all, p.idle, p.pending = nil, nil, nil
}
