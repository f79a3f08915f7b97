// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"math"
	"sync"
	"time"
)

const (
	// turn is how long a worker works on what it is given at a time: long beside the handing out, short
	// beside the time after which results are written.
	turn = 100 * time.Millisecond
	// shortTurn is the least that a worker is given near the end, where turns become shorter so that all
	// workers end together.
	shortTurn = time.Millisecond
	// mostItems bounds what a worker is given, and with it how many items are done again one by one
	// after a process died.
	mostItems = 1 << 14
)

// pace measures how long items take, and says how many a worker is given.
type pace struct {
	mu   sync.Mutex
	each float64 // s, mean of late
	last int64
}

// took notes that some items took a time.
func (p *pace) took(items int64, d time.Duration) {
	if items == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := d.Seconds() / float64(items)
	if p.each == 0 {
		p.each = now
	}
	p.each += (now - p.each) / 4
}

// items returns how many items a worker is given when some are left for all workers: one at first, never
// much more than last time, and less at the end.
func (p *pace) items(left int64, workers int) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.each == 0 {
		return 1
	}
	in := func(d time.Duration) int64 { return int64(math.Max(1, min(mostItems, d.Seconds()/p.each))) }
	p.last = min(4*max(1, p.last), in(turn))
	return min(p.last, max(left/int64(2*workers), in(shortTurn)))
}
