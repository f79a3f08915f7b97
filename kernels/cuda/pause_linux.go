// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"syscall"
	"time"
)

// pause stops the thread for a short time. time.Sleep would do so for a millisecond at least if nothing else runs,
// because the runtime then waits for the network, whose timer counts milliseconds. A signal ends a pause early.
func pause(d time.Duration) {
	t := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&t, nil)
}
