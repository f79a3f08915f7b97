// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package parallel

import (
	"sync/atomic"
	"testing"
)

// Every i is done once, by a worker of its own number, however many there are.
func TestEveryPartIsDoneOnce(t *testing.T) {
	for _, workers := range []int{-1, 0, 1, 3, 100} {
		for _, n := range []int{0, 1, 2, 57} {
			done := make([]atomic.Int32, n)
			Do(workers, n, func(worker, i int) {
				if worker < 0 || worker >= max(1, min(workers, n)) {
					t.Errorf("worker %d of %d", worker, workers)
				}
				done[i].Add(1)
			})
			for i := range done {
				if k := done[i].Load(); k != 1 {
					t.Errorf("%d workers: %d of %d is done %d times", workers, i, n, k)
				}
			}
		}
	}
}
