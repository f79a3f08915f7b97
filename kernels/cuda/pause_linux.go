// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"runtime"
	"syscall"
	"time"
)

// pause stops the thread for a short time. time.Sleep would do so for a millisecond at least if nothing else runs,
// because the runtime then waits for the network, whose timer counts milliseconds. A signal ends a pause early. A thread that is
// stopped keeps one of GOMAXPROCS goroutines from running, so where it would keep all of them the runtime's sleep is better.
func pause(d time.Duration) {
	if runtime.GOMAXPROCS(0) == 1 {
		time.Sleep(d)
		return
	}
	t := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&t, nil)
}
