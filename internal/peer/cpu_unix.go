// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package peer

import (
	"syscall"
	"time"
)

// CPUTime returns the seconds of processor time that this process has taken.
func CPUTime() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
