// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"runtime"

	"golang.org/x/sys/windows"
)

// thread returns the number of the system's thread that runs the goroutine.
func thread() int { return int(windows.GetCurrentThreadId()) }

func lockThread()   { runtime.LockOSThread() }
func unlockThread() { runtime.UnlockOSThread() }
