// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// Settings control how a shard is run.
type Settings struct {
	Store Store
	Shard Shard
	// Workers is the number of goroutines that process items. Default: GOMAXPROCS.
	Workers int
	// Command is the name shown to other processes that find the shard in use.
	Command string
	// Progress is called with the progress of the shard about once a second and at the end, unless it
	// is nil.
	Progress func(Progress)
	// Alone starts a separate process that handles one item by calling the function Alone and may crash
	// without affecting this one. It is used for items that crashed this process once before. If it is
	// nil, such items are handled here, one after another.
	Alone func(ctx context.Context, items Range) *exec.Cmd
	// Every is the longest time between two writes of results. The first interval is one second, and
	// the intervals grow from there. Default: 10 s.
	Every time.Duration
}

// Progress describes how far a shard has got.
type Progress struct {
	Items   int64 // items in the shard
	Done    int64 // items that have a result or have failed for good
	Failed  int64 // items among Done that failed in this process
	Now     int64 // items that this process has finished
	Elapsed time.Duration
}

// Rate returns the number of items that this process finishes per second.
func (p Progress) Rate() float64 { return float64(p.Now) / max(1e-9, p.Elapsed.Seconds()) }

// Left returns the time that the remaining items take at this rate, or 0 if the rate is not known.
func (p Progress) Left() time.Duration {
	if p.Now == 0 {
		return 0
	}
	return time.Duration(float64(p.Items-p.Done) / p.Rate() * float64(time.Second))
}

// Run processes the items of a shard that have no result yet, and then gives the shard's folder in the
// store its final name. If ctx ends, it keeps the results found so far and returns the cause; the next
// Run continues from there. An item that fails is tried again at the end, as often as the manifest
// says, and if it still fails the error is its result. Other processes may run other shards at the same
// time, but two processes cannot run the same shard: the second one gets an error.
func Run(ctx context.Context, m *Manifest, t Task, s Settings) (Progress, error) {
	if err := s.Shard.check(); err != nil {
		return Progress{}, err
	}
	if s.Workers <= 0 {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	if s.Every <= 0 {
		s.Every = 10 * time.Second
	}
	res, done, err := s.Store.begin(ctx, m, s.Shard, s.Command)
	if err != nil {
		return Progress{}, err
	}
	total, missing := m.count(s.Shard, done)
	p := Progress{Items: total, Done: total - missing}
	if res == nil { // the shard is complete
		p.Done = total
		tell(s.Progress, p)
		return p, nil
	}
	defer res.release()
	r := &running{Settings: s, m: m, t: t, res: res, done: done, start: time.Now(), progress: p}
	if r.deaths, err = res.suspects(done); err != nil {
		return p, err
	}
	if r.flight, err = res.newFlight(s.Workers); err != nil {
		return p, err
	}
	defer r.flight.end()
	tell(s.Progress, p)
	err = r.all(ctx)
	tell(s.Progress, r.progress)
	if err == nil {
		err = res.complete()
	}
	return r.progress, err
}

func tell(f func(Progress), p Progress) {
	if f != nil {
		f(p)
	}
}

// count returns how many items a shard has, and how many of them are missing.
func (m *Manifest) count(shard Shard, done set) (total, missing int64) {
	for i := shard.next(0, m.Block); i < m.Items; i = shard.next(i+1, m.Block) {
		total++
		if !done.has(i) {
			missing++
		}
	}
	return total, missing
}

// running is a shard that is being done.
type running struct {
	Settings
	m      *Manifest
	t      Task
	res    *results
	done   set
	deaths map[int64]int // how often a process ended while it worked on an item
	flight *flight
	start  time.Time
	pace   pace
	out    chan [][]Record // to the goroutine that writes

	mu       sync.Mutex
	progress Progress
	found    [][]Record // that are not written yet, as the workers gave them
	held     int        // how many these are
	tries    map[int64]int
	again    []Range // items that failed and are tried once more
	written  time.Time
	pause    time.Duration // until they are written again
	told     time.Time
}

const (
	// mostFound is the number of results after which they are written.
	mostFound = 1 << 16
)

// all does the missing items: first those that may have ended an earlier process, each alone, and at
// last those that failed.
func (r *running) all(ctx context.Context) error {
	r.pause = min(time.Second, r.Every)
	r.written, r.told, r.tries, r.out = r.start, r.start, map[int64]int{}, make(chan [][]Record, 1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var failed error
	writer := make(chan struct{})
	go func() {
		defer close(writer)
		for list := range r.out {
			if failed == nil {
				if failed = r.res.write(r.t.Columns(), list); failed != nil {
					cancel(failed)
				}
			}
		}
	}()
	err := r.pass(ctx, func(give func([]Range) bool) error { return r.deal(give, true) })
	if err == nil {
		err = r.pass(ctx, func(give func([]Range) bool) error { return r.deal(give, false) })
	}
	for err == nil && len(r.again) > 0 {
		list := r.again
		r.again = nil
		err = r.pass(ctx, func(give func([]Range) bool) error {
			for _, items := range list {
				if !give([]Range{items}) {
					break
				}
			}
			return nil
		})
	}
	r.out <- r.found
	close(r.out)
	<-writer
	if failed != nil {
		return failed
	}
	return err
}

// pass lets the workers do what source gives.
func (r *running) pass(ctx context.Context, source func(give func([]Range) bool) error) error {
	work := make(chan []Range)
	var wg sync.WaitGroup
	for w := range r.Workers {
		wg.Go(func() {
			for list := range work {
				r.work(ctx, w, list)
			}
		})
	}
	err := source(func(list []Range) bool {
		select {
		case work <- list:
			return true
		case <-ctx.Done():
			return false
		}
	})
	close(work)
	wg.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	return err
}

// deal gives out the missing items of the shard, in their order: those alone of which a process died,
// or the others, as many at a time as the pace says.
func (r *running) deal(give func([]Range) bool, suspects bool) error {
	if suspects && len(r.deaths) == 0 {
		return nil
	}
	var list []Range
	var count, most int64
	left := r.progress.Items - r.progress.Done
	send := func() bool {
		out := list
		left -= count
		list, count = nil, 0
		return len(out) == 0 || give(out)
	}
	for seg, err := range r.m.Segments() {
		if err != nil {
			return err
		}
		for i := r.Shard.next(seg.Item, r.m.Block); i < seg.Item+seg.Count; i = r.Shard.next(i, r.m.Block) {
			if !r.wanted(i, suspects) {
				i++
				continue
			}
			if count == 0 {
				if most = r.pace.items(left, r.Workers); suspects {
					most = 1
				}
			}
			one := Range{Source: seg.Source, Row: seg.Row + i - seg.Item, Item: i}
			for end := min(seg.Item+seg.Count, (i/r.m.Block+1)*r.m.Block); i < end && count+one.Count < most && r.wanted(i, suspects); i++ {
				one.Count++
			}
			list, count = append(list, one), count+one.Count
			if count >= most && !send() {
				return nil
			}
		}
	}
	send()
	return nil
}

// wanted reports whether an item is missing, and is one that may have ended a process, or not.
func (r *running) wanted(item int64, suspect bool) bool {
	return !r.done.has(item) && (r.deaths[item] > 0) == suspect
}

// work does some ranges.
func (r *running) work(ctx context.Context, worker int, list []Range) {
	last := list[len(list)-1]
	start := time.Now()
	r.flight.set(worker, list[0].Item, last.Item+last.Count-list[0].Item)
	var found [][]Record
	var count int64
	for _, items := range list {
		if ctx.Err() != nil {
			break
		}
		count += items.Count
		if r.deaths[items.Item] == 0 || r.Alone == nil {
			found = append(found, attempt(ctx, r.t, items))
			continue
		}
		if rec, err := inChild(r.Alone(ctx, items), r.m, items.Item); ctx.Err() == nil {
			if err != nil {
				rec = Record{Item: items.Item, Err: err.Error()}
			}
			found = append(found, []Record{rec})
		}
	}
	r.flight.set(worker, 0, 0)
	r.pace.took(count, time.Since(start))
	r.keep(list, found)
}

// keep takes results; those of failures once they were tried often enough.
func (r *running) keep(list []Range, found [][]Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, records := range found {
		once := 0 // how many are tried once more
		for k := range records {
			rec := &records[k]
			rec.Attempts = r.tries[rec.Item] + 1
			switch {
			case rec.Err != "" && rec.Attempts <= r.m.Retries:
				r.tries[rec.Item] = rec.Attempts
				r.again = append(r.again, single(list, rec.Item))
				once++
				continue
			case rec.Err != "":
				r.progress.Failed++
			}
			if once > 0 {
				records[k-once] = *rec
			}
		}
		records = records[:len(records)-once]
		r.found = append(r.found, records)
		r.held += len(records)
		r.progress.Done += int64(len(records))
		r.progress.Now += int64(len(records))
	}
	now := time.Now()
	r.progress.Elapsed = now.Sub(r.start)
	if now.Sub(r.told) > time.Second {
		r.told = now
		tell(r.Progress, r.progress)
	}
	if r.held >= mostFound || now.Sub(r.written) > r.pause {
		r.written, r.pause = now, min(2*r.pause, r.Every)
		r.out <- r.found
		r.found, r.held = nil, 0
	}
}

// single returns the range of one item.
func single(list []Range, item int64) Range {
	for _, s := range list {
		if item >= s.Item && item < s.Item+s.Count {
			return Range{Source: s.Source, Row: s.Row + item - s.Item, Item: item, Count: 1}
		}
	}
	panic("batch: an item that was not dealt")
}
