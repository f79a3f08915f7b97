// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package speckle simulates the frames of a detector that looks at fluctuating speckles of known
// dynamics, for demonstrations, tests and the planning of measurements.
//
// [New] checks a [Sample] and returns a [Movie], whose Frames are counts of photons. Every pixel is one speckle: a sum of independent
// complex Gaussian fields with an exponential correlation in time, so that g2 of a bin of pixels with one relaxation time is
// g2(t) = 1 + contrast exp(-2 t/tau), where contrast = (1 - Static)^2 / Modes.
//
//	m, err := speckle.New(speckle.Sample{Height: 64, Width: 64, Tau: tau, Mean: mean, FrameTime: 1e-3, Seed: 1})
//	if err != nil { ... }
//	frames := make([]float32, 100*64*64)
//	m.Frames(frames) // the next 100 frames
//
// The same seed gives the same movie, whatever the number of threads and however the frames are asked for.
package speckle
