// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Every part of every step is done once, whatever the goroutines of the pool do meanwhile, and nobody works on a step that is over.
func TestCrews(t *testing.T) {
	const callers, steps, parts = 20, 300, 7
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			var next, done atomic.Int64
			var over atomic.Bool
			var inner crew // a step of a step
			inner.take = func(int) { done.Add(0) }
			c := crew{take: func(hand int) {
				for next.Add(1) <= parts {
					if over.Load() {
						t.Error("a part is done after its step")
					}
					done.Add(1)
				}
				if hand == 0 {
					inner.run(3)
				}
			}}
			for range steps {
				over.Store(false)
				next.Store(0)
				done.Store(0)
				c.run(5)
				over.Store(true)
				if n := done.Load(); n != parts {
					t.Errorf("%d of %d parts are done", n, parts)
				}
			}
		})
	}
	all.Wait()
}
