//go:build !unix

package peer

import "time"

var began = time.Now()

// cpuTime returns seconds by the clock, where processor time is not told.
func cpuTime() float64 { return time.Since(began).Seconds() }
