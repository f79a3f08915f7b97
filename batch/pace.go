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

// items returns how many items a worker is given: one at first, and never much more than last time.
func (p *pace) items() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.each == 0 {
		return 1
	}
	p.last = min(mostItems, 4*max(1, p.last), int64(math.Max(1, turn.Seconds()/p.each)))
	return p.last
}
