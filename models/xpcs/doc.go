// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package xpcs turns the frames of a detector into result files of X-ray photon correlation
// spectroscopy.
//
// A [Setup] is a geometry with a mask and bins; its Map has the contents of q-map files.
// [Correlate] reads frames once and writes g2, the two-time correlation or both in the layout of
// beamline 8-ID, with errors and the covariance of the points, which the fits of package g2 use.
//
//	setup := xpcs.Setup{Geometry: geometry, Dynamic: [2]int{36, 1}, Static: [2]int{360, 1}}
//	q, err := setup.Map(mask)
//	if err != nil { ... }
//	movie, err := frames.Open("A003_00001.h5", frames.Settings{})
//	if err != nil { ... }
//	defer movie.Close()
//	done, err := xpcs.Correlate(ctx, xpcs.Job{Frames: movie, Map: q, FrameTime: 0.02, Multitau: true}, "A003_results.hdf")
//	if err != nil { ... }
//	fmt.Println(done.Frames, done.Replaced) // frames correlated, and those that were bad and replaced
//
// Lengths are in m, times in s, energies in keV, q in 1/angstrom and azimuths in degrees.
package xpcs
