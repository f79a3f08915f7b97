// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package roofline

import (
	"fmt"
	"slices"
	"strings"
)

// Figure is a measured figure of an engine in docs/GPU.md with what the engine does for it. Each engine registers its own,
// beside its kernels.
type Figure struct {
	Name     string
	Measured float64 // seconds, on the H100 of the page
	// Do lists the launches of the figure, one after another. Launches of fewer than one kernel, as of a block of frames, are Share of them.
	Do func() ([]Launch, error)
	// Then lists those of the kernels that were measured, if others have taken their place.
	Then  func() ([]Launch, error)
	Share float64 // of the launches that the figure counts; 0 is 1
	Bus   float64 // bytes between page-locked memory of the host and the device
	Pages float64 // bytes that the device sends to ordinary memory
	Sent  float64 // bytes that ordinary memory sends to the device
	Calls int     // launches by the host, each on its own; 0 for graphs, which the host starts at once
	Waits int     // times that the host waits for results before it goes on
	// Along says that the bus works while kernels do.
	Along bool
	Note  string // one sentence about what the model does not explain, if that is more than 30 %
}

var figures []Figure

// Register adds figures of an engine; it is called while packages are initialized.
func Register(list ...Figure) { figures = append(figures, list...) }

// Figures returns what engines have registered, in the order of their names.
func Figures() []Figure {
	return slices.SortedFunc(slices.Values(figures), func(a, b Figure) int { return strings.Compare(a.Name, b.Name) })
}

// Trajectories lists the launches of a leapfrog step of some chains of a posterior of package infer, which sets it: the step is no
// part of its interface.
var Trajectories func(posterior any, chains int) ([]Launch, error)

// Bandwidths of the bus and the cost of a launch, measured on an H100 (docs/GPU.md).
const (
	pinned   = 53.9e9 // bytes in a second of page-locked memory, either way
	pageable = 47.8e9 // of ordinary memory to the device
	fetched  = 24.6e9 // and back
	call     = 3.7e-6 // seconds of a launch by the host
)

// Shares are the parts of the time of a figure, in seconds.
type Shares struct {
	Kernels, Bus, Host float64
	Seconds            float64 // of the figure
	Bound              string  // the largest part, and what bounds the kernel that takes longest
	Unknown            string  // what of the kernels' work is not counted
	Launches           []Launch
	Each               []Estimate
}

// Figure returns what the model expects of a figure.
func (c Card) Figure(f Figure) (s Shares, err error) {
	if f.Do != nil {
		if s.Launches, err = f.Do(); err != nil {
			return s, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	share := f.Share
	if share == 0 {
		share = 1
	}
	_, s.Each = c.Program(s.Launches, 0)
	longest := -1
	for i, e := range s.Each {
		s.Kernels += e.Seconds * share
		if longest < 0 || e.Seconds > s.Each[longest].Seconds {
			longest = i
		}
		if s.Unknown == "" {
			s.Unknown = s.Launches[i].Work.Unknown
		}
	}
	s.Bus = f.Bus/pinned + f.Sent/pageable + f.Pages/fetched
	s.Host = float64(f.Calls)*call + float64(f.Waits)*Call
	s.Seconds = s.Kernels + s.Bus
	if f.Along {
		s.Seconds = max(s.Kernels, s.Bus)
	}
	s.Seconds = max(s.Seconds, s.Host)
	switch max(s.Kernels, s.Bus, s.Host) {
	case s.Host:
		s.Bound = "host"
	case s.Bus:
		s.Bound = "bus"
	default:
		s.Bound = s.Launches[longest].Kernel + ": " + s.Each[longest].Bound
	}
	return s, nil
}

// Stream returns a launch that reads and writes arrays of some bytes once, in order, a thread for each element or several; the identities
// of arrays are those of the list.
func Stream(kernel string, grid, block int, arrays ...Array) Launch {
	l := Launch{Kernel: kernel, Grid: grid, Block: block}
	for _, a := range arrays {
		l.Work.Use(a.ID, a.Bytes, a.Write)
		l.Work.Sectors += a.Bytes / 32
	}
	l.Work.Trips = 1
	return l
}
