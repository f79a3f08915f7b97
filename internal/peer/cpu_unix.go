// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package peer

import (
	"os"
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

// rest stops a process, or lets it go on.
func rest(p *os.Process, stop bool) {
	signal := syscall.SIGCONT
	if stop {
		signal = syscall.SIGSTOP
	}
	_ = p.Signal(signal) // one that has ended rests already
}
