// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package memory reports how much memory there is.
package memory

import (
	"fmt"
	"math"
	"runtime/debug"
	"sync"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// Limit returns the largest number of bytes that the process may take: that of the machine, of its
// control group (a container, a batch job), of its address space (ulimit -v) or of GOMEMLIMIT, whichever is smallest. If nothing is
// known it is math.MaxInt64.
var Limit = sync.OnceValue(func() int64 {
	least := uint64(debug.SetMemoryLimit(-1))
	for _, ask := range []func() (uint64, error){memlimit.FromSystem, memlimit.FromCgroup, fromRlimit} {
		if n, err := ask(); err == nil && n > 0 {
			least = min(least, n)
		}
	}
	return int64(min(least, math.MaxInt64))
})

// Text formats a number of bytes for people.
func Text(bytes int64) string {
	v, unit := float64(bytes), 0
	for v >= 1024 && unit < 6 {
		v, unit = v/1024, unit+1
	}
	return fmt.Sprintf("%.4g %s", v, []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}[unit])
}
