// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !windows

package cuda

// There are no drivers for other systems, and so no captures.
func thread() int   { return 0 }
func lockThread()   {}
func unlockThread() {}
