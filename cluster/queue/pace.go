// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"math"
	"time"

	"github.com/euryale-dev/euryale/batch"
)

// mostItems bounds the items of a message.
const mostItems = 1 << 16

// leastTime is what a message is worth where the rest of the items is cut small for many threads, in s.
const leastTime = 0.02

// pace measures how long items take, and says how many make a message.
type pace struct {
	items, seconds float64 // sums in which what is long ago counts less
	largest        int64   // message that somebody has done
}

func (p *pace) took(items int64, seconds float64) {
	if items <= 0 || !(seconds >= 0) {
		return
	}
	p.items = 0.9*p.items + float64(items)
	p.seconds = 0.9*p.seconds + seconds
	p.largest = max(p.largest, items)
}

// size returns the items of the next message: as many as take the time of a block, but not much more
// than anybody has done yet, and at the end so few that all threads end at the same time.
func (p *pace) size(block time.Duration, left int64, threads int) int64 {
	if p.items == 0 {
		return 1
	}
	each := max(1e-9, p.seconds/p.items)
	share := max(math.Ceil(float64(left)/float64(2*max(1, threads))), leastTime/each)
	n := min(block.Seconds()/each, share, 4*float64(p.largest), mostItems)
	return max(1, int64(n))
}

// Progress describes how far a run has got.
type Progress struct {
	batch.Progress
	// Workers is the number of worker processes and Threads the sum of their threads, as far as the
	// leader knows.
	Workers, Threads int
}
