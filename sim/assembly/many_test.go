// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
)

// Every brain does its part of a step even if others fail, and the error is that of the first brain that fails, on
// any number of threads.
func TestFirstErrorOfBrains(t *testing.T) {
	faults := make([]error, 12)
	for k := 3; k < len(faults); k += 2 {
		faults[k] = fmt.Errorf("brain %d", k)
	}
	for _, workers := range []int{1, 4} {
		l := &lockstep{workers: workers}
		for _, e := range faults {
			l.runs = append(l.runs, &running{err: e})
		}
		var done atomic.Int32
		err := l.each(func(r *running) error {
			done.Add(1)
			return r.err
		})
		if !errors.Is(err, faults[3]) || int(done.Load()) != len(faults) {
			t.Errorf("%d threads: %d of %d brains are done, and the error is %v", workers, done.Load(), len(faults), err)
		}
		if err := l.each(func(*running) error { return nil }); err != nil {
			t.Errorf("%d threads: an error of an earlier part: %v", workers, err)
		}
	}
}
