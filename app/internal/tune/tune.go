// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tune

import "time"

var (
	// PictureDPI is the resolution of the PNG files of reports in dots per inch, 0 for the default. Tests draw coarse pictures,
	// which takes a tenth of the time.
	PictureDPI int
	// Patience is how long to keep trying to write the last checkpoint of a run, for example while a disk is full.
	Patience = time.Minute
	// BenchCopy is how many bytes are copied to measure the bandwidth of a device, 0 for the default. Tests copy few.
	BenchCopy int
	// WatchEvery is the time between two looks at a folder that is watched.
	WatchEvery = time.Second
	// Settled is the time for which a file in such a folder must not have changed.
	Settled = 3 * time.Second
	// LiveAfter is how long a run must last before it shows its draws so far, and LiveEvery the time between two times that it does.
	LiveAfter = 2 * time.Second
	LiveEvery = time.Second
)
