package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// sharing lets several goroutines take the blocks of one loop. Every block writes to its own place,
// so the result does not depend on which goroutine takes it.
type sharing[T Real] struct {
	job  *machineJob[T]
	next atomic.Int64
	done sync.WaitGroup
}

func (m *Machine[T]) shareBlocks(j *machineJob[T]) {
	n := min(m.o.Threads, j.loop.Blocks)
	for len(m.workers) < n {
		m.workers = append(m.workers, newWorker(m))
	}
	m.share.job = j
	m.share.next.Store(0)
	m.share.done.Add(n - 1)
	for _, w := range m.workers[1:n] {
		pool().tasks <- w
	}
	m.workers[0].takeBlocks()
	m.share.done.Wait()
}

// work runs on a goroutine of the pool after it has received a worker.
func (w *worker[T]) work() {
	w.takeBlocks()
	w.m.share.done.Done()
}

func (w *worker[T]) takeBlocks() {
	s := &w.m.share
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

// goroutines is the pool that all machines share. A machine owns no goroutines, so dropping it
// leaves nothing behind.
type goroutines struct{ tasks chan interface{ work() } }

var pool = sync.OnceValue(func() *goroutines {
	c := &goroutines{tasks: make(chan interface{ work() }, 256)}
	for range max(1, runtime.NumCPU()-1) {
		go func() {
			for t := range c.tasks {
				t.work()
			}
		}()
	}
	return c
})
