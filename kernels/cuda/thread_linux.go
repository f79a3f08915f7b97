// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"runtime"
	"syscall"
)

// thread returns the number of the system's thread that runs the goroutine.
func thread() int { return syscall.Gettid() }

func lockThread()   { runtime.LockOSThread() }
func unlockThread() { runtime.UnlockOSThread() }
