// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "time"

var (
	// pictureDPI is the resolution of the PNG files of reports in dots per inch, 0 for the default. Tests draw coarse pictures,
	// which takes a tenth of the time.
	pictureDPI int
	// patience is how long to keep trying to write the last checkpoint of a run, for example while a disk is full.
	patience = time.Minute
	// benchCopy is how many bytes are copied to measure the bandwidth of a device, 0 for the default. Tests copy few.
	benchCopy int
	// watchEvery is the time between two looks at a folder that is watched.
	watchEvery = time.Second
	// settled is the time for which a file in such a folder must not have changed.
	settled = 3 * time.Second
)
