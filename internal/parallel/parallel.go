// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package parallel distributes independent work over goroutines.
package parallel

import (
	"sync"
	"sync/atomic"

	"github.com/euryale-dev/euryale/internal/given"
)

// Do calls f(worker, i) for every i below n, each once, on up to workers
// goroutines. Calls for different i must not touch the same memory. A panic of f ends the work and
// panics in the caller, which can recover from it.
func Do(workers, n int, f func(worker, i int)) {
	workers = min(workers, n)
	if workers <= 1 {
		for i := range n {
			f(0, i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	var panicked atomic.Pointer[given.PanicError]
	for w := range workers {
		wg.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					panicked.CompareAndSwap(nil, given.Recovered(v))
					next.Store(int64(n))
				}
			}()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(w, i)
			}
		})
	}
	wg.Wait()
	if e := panicked.Load(); e != nil {
		panic(e)
	}
}
