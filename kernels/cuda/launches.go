// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"sync"
	"sync/atomic"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// launchRing remembers the last launches, for errors that surface later.
type launchRing struct {
	mu      sync.Mutex
	serial  uint64
	ring    [64]launchEntry
	streams atomic.Int64 // streams that users made, for their names
}

type launchEntry struct {
	info   LaunchInfo
	stream *Stream
}

// add numbers a launch and remembers it.
func (r *launchRing) add(s *Stream, info LaunchInfo) LaunchInfo {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.serial++
	info.Serial = r.serial
	r.ring[r.serial%uint64(len(r.ring))] = launchEntry{info, s}
	return info
}

// last returns the number of the newest launch.
func (r *launchRing) last() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.serial
}

// recent lists the launches that are not known to have succeeded, oldest first.
func (r *launchRing) recent() []LaunchInfo {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []LaunchInfo
	n := uint64(len(r.ring))
	for i := r.serial - min(r.serial, n) + 1; i <= r.serial; i++ {
		if e := r.ring[i%n]; e.stream != nil && i > e.stream.synced.Load() {
			all = append(all, e.info)
		}
	}
	return all
}

// parameterList keeps pinned parameter blocks between launches.
type parameterList struct {
	mu     sync.Mutex
	idle   []*drv.Parameters
	closed bool
}

func (l *parameterList) get() *drv.Parameters {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.idle); n > 0 {
		p := l.idle[n-1]
		l.idle = l.idle[:n-1]
		p.Reset()
		return p
	}
	return drv.NewParameters()
}

func (l *parameterList) put(p *drv.Parameters) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		p.Release()
		return
	}
	l.idle = append(l.idle, p)
}

// free unpins the blocks that are not in use; the others follow when they are put back.
func (l *parameterList) free() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.idle {
		p.Release()
	}
	l.idle, l.closed = nil, true
}
