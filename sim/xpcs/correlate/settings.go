// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"runtime"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Settings are the settings of Multitau and Twotime. The zero value is the default.
type Settings struct {
	Selection
	PerLevel int // number of delays at each level. Default 4
	// Normalize divides every frame by its mean over the pixels of static bins first, so that the
	// intensity of the source does not matter.
	Normalize bool
	// Parts is the number of cumulative results, of the first n, 2 n ... frames with n =
	// frames/Parts rounded down. They show whether g2 depends on the duration. Default 0, for none.
	Parts int
	// Covariance asks for the covariance of the points of each g2.
	Covariance bool
	// PerPixel is called for each delay, unless it is nil, with images, (Height, Width), of the
	// products of each pixel and of the means of its earlier and later frames. They are valid
	// during the call.
	PerPixel func(delay int, products, earlier, later []float64) error

	// Intensities is called by Twotime, unless it is nil, with the intensities of the frames that
	// it has read: Frames, Trace, SAXS, Image, Empty, Photons and Strays of a Result and, where Parts asks for them,
	// the Frames of Parts and SAXSParts.
	Intensities func(*Result)

	Bins   []int  // dynamic bins that Twotime correlates, from 1. Default: all
	Smooth string // kind of bins by whose mean intensity Twotime divides pixels: "static" (default) or "dynamic"

	// Photons asks for Result.Photons and Result.Strays.
	Photons bool

	// Ages makes Twotime fill Map.Ages, from which the errors of g2 at ages follow.
	Ages bool

	// Precision is the number of bits, 32 or 64, of sums over up to 64 frames. Default 32: counts
	// are exact, and sums over more frames always have 64 bits.
	Precision int
	Threads   int // number of threads; results do not depend on it. Default GOMAXPROCS
	// MaxBytes bounds the memory for sums. A movie that needs more is read several times, for some bins
	// each time. Default 2 GiB.
	MaxBytes int64
	// Backend chooses where to correlate. On GPUs sums have 64 bits, Precision is that of
	// normalised frames, of frames summed over levels and of products of two-time correlations,
	// MaxBytes bounds what is fetched at a time, and the memory of a GPU bounds the sums; several
	// GPUs share the bins. Default: the CPU, whose graphs have one thread for each worker.
	Backend ad.Backend
	// Progress is called after every block, unless it is nil, with the number of frames read and
	// their total, repeated readings included.
	Progress func(done, all int)

	strays *strays // what finds stray readings; nil: nothing
	crowd  int     // number of events that makes a pass crowded; 0: as crowd says
	levels int     // number of levels that work on lists of events; 0: by the occupancy, -1: none
}

func (s Settings) threads() int {
	if s.Threads > 0 {
		return s.Threads
	}
	return runtime.GOMAXPROCS(0)
}

func (s Settings) defaults() Settings {
	if s.PerLevel <= 0 {
		s.PerLevel = 4
	}
	if s.MaxBytes <= 0 {
		s.MaxBytes = 2 << 30
	}
	if s.Backend == nil {
		s.Backend = ad.CPU{Threads: 1}
	}
	if s.Precision == 0 {
		s.Precision = 32
	}
	if s.Progress == nil {
		s.Progress = func(int, int) {}
	}
	return s
}
