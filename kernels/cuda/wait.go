// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"runtime"
	"time"
)

// poll asks until done says yes. For 200 us it asks again at once, while other goroutines may run: most kernels and copies
// end within that time. Then it pauses for a sixteenth of the time that it has waited so far, from 20 us to 1 ms, so that a wait costs
// little of the processor and ends at most that much late.
func poll(ctx context.Context, done func() (bool, error)) error {
	const spin, shortest, longest = 200 * time.Microsecond, 20 * time.Microsecond, time.Millisecond
	for start := time.Now(); ; {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if waited := time.Since(start); waited > spin {
			pause(min(max(waited/16, shortest), longest))
		} else {
			runtime.Gosched()
		}
	}
}
