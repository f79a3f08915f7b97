// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package parallel distributes independent work over goroutines.
package parallel

import (
	"sync"
	"sync/atomic"
)

// Do calls f(worker, i) for every i below n, each once, on up to workers
// goroutines. Calls for different i must not touch the same memory.
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
	for w := range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(w, i)
			}
		})
	}
	wg.Wait()
}
