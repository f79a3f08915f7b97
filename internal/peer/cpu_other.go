// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package peer

import (
	"os"
	"time"
)

var began = time.Now()

// CPUTime returns seconds by the clock, where processor time is not told.
func CPUTime() float64 { return time.Since(began).Seconds() }

// rest does nothing where processes cannot be stopped.
func rest(*os.Process, bool) {}
