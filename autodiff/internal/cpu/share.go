// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// sharing lets several goroutines take the blocks of one loop. Every block writes to its own place,
// so the result does not depend on which goroutine takes it.
type sharing[T Real] struct {
	job  *machineJob[T]
	next atomic.Int64
	crew crew
}

func (m *Machine[T]) shareBlocks(j *machineJob[T]) {
	n := min(m.o.Threads, j.loop.Blocks)
	for len(m.workers) < n {
		m.workers = append(m.workers, newWorker(m))
	}
	m.share.job = j
	m.share.next.Store(0)
	m.share.crew.run(n)
}

func (m *Machine[T]) takeBlocks(hand int) {
	s, w := &m.share, m.workers[hand]
	b := w.loops[s.job.index]
	w.fillOnce(b)
	for {
		k := int(s.next.Add(1)) - 1
		if k >= b.Loop.Blocks {
			return
		}
		w.block(b, k)
	}
}

// A goroutine that has nothing to do looks out for work for some time before it sleeps: to wake one may take 100 us, which is longer than
// most steps of a program. Now and then it lets others run.
const (
	glance = 20 * time.Microsecond
	looks  = 10 // glances
)

// watch calls seen again and again for some time and reports whether it returned true.
func watch(seen func() bool) bool {
	for range looks {
		for start := time.Now(); time.Since(start) < glance; {
			for range 50 {
				if seen() {
					return true
				}
			}
		}
		runtime.Gosched()
	}
	return false
}

// crew is goroutines that do the parts of a step together: the caller and members of the pool. A member that comes too late, because
// its processor is busy, has missed the step, and nobody waits for it.
type crew struct {
	take    func(hand int) // does parts until all are taken
	members []*member
}

// member is a goroutine of a crew, which is known by its hand.
type member struct {
	crew  *crew
	hand  int
	state atomic.Int32
	sent  atomic.Bool // whether the pool has it
	done  chan struct{}
}

// States of a member.
const (
	away = iota
	called
	working
	awaited // working, while the caller sleeps
)

// Where other programs use the processors, a member may be stopped in the middle of its part, and the step takes longer than by the caller
// alone. Once a member was late by lateBy and by as long as the caller worked, steps are done alone for some time, twice as long if that
// happens again soon.
const (
	lateBy     = 100 * time.Microsecond
	alone      = 20 * time.Millisecond
	aloneAtMax = time.Second
)

// run does a step with n goroutines, hands 0 to n-1.
func (c *crew) run(n int) {
	begin := time.Now()
	p := pool()
	now := begin.Sub(p.begin)
	if n < 2 || now < time.Duration(p.until.Load()) {
		c.take(0)
		return
	}
	for hand := len(c.members) + 1; hand < n; hand++ {
		c.members = append(c.members, &member{crew: c, hand: hand, done: make(chan struct{}, 1)})
	}
	members := c.members[:n-1]
	for _, m := range members {
		m.state.Store(called)
		if m.sent.CompareAndSwap(false, true) && !p.give(m) {
			m.sent.Store(false)
		}
	}
	c.take(0)
	worked := time.Since(begin)
	for _, m := range members {
		m.wait()
	}
	if all := time.Since(begin); all > 2*worked+lateBy {
		p.late(now, now+all)
	}
}

// work runs on a goroutine of the pool.
func (m *member) work() {
	m.sent.Store(false)
	if !m.state.CompareAndSwap(called, working) {
		return
	}
	m.crew.take(m.hand)
	if m.state.Swap(away) == awaited {
		m.done <- struct{}{}
	}
}

// wait waits until m does not work.
func (m *member) wait() {
	if m.state.CompareAndSwap(called, away) || watch(func() bool { return m.state.Load() == away }) {
		return
	}
	if m.state.CompareAndSwap(working, awaited) {
		<-m.done
	}
}

// goroutines is the pool that all machines share. A machine owns no goroutines, so dropping it
// leaves nothing behind.
type goroutines struct {
	tasks chan *member // for those that sleep
	now   chan *member // for those that are awake
	awake atomic.Int64 // how many of these have no task
	begin time.Time
	until atomic.Int64 // when, since begin, steps are no longer done without them
	alone atomic.Int64 // how long they were
}

// late notes that a step, which began and ended at these times since begin, had to wait.
func (g *goroutines) late(began, ended time.Duration) {
	d := time.Duration(g.alone.Load())
	if began-time.Duration(g.until.Load()) < d {
		d = min(2*d, aloneAtMax)
	} else {
		d = alone
	}
	g.alone.Store(int64(d))
	g.until.Store(int64(ended + d))
}

var pool = sync.OnceValue(func() *goroutines {
	n := max(1, runtime.NumCPU()-1)
	g := &goroutines{tasks: make(chan *member, 256), now: make(chan *member, n), begin: time.Now()}
	for range n {
		go func() {
			for m := range g.tasks {
				for m != nil {
					m.work()
					m = g.next()
				}
			}
		}()
	}
	return g
})

// give gives m to a goroutine, to one that is awake if there is one, and reports whether it could: not if very many wait.
func (g *goroutines) give(m *member) bool {
	if g.claim() {
		g.now <- m
		return true
	}
	select {
	case g.tasks <- m:
		return true
	default:
		return false
	}
}

// claim takes a goroutine that is awake from their number.
func (g *goroutines) claim() bool {
	for {
		n := g.awake.Load()
		if n == 0 {
			return false
		}
		if g.awake.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// next waits for a task; nil: there was none for some time.
func (g *goroutines) next() (m *member) {
	g.awake.Add(1)
	found := watch(func() bool {
		select {
		case m = <-g.now:
			return true
		default:
			return false
		}
	})
	if !found && !g.claim() { // a task is about to come
		m = <-g.now
	}
	return m
}
