// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package noise simulates the noise of two-time correlations: speckles whose intensities fluctuate
// together in frames, and photon counts.
//
//	f, err := noise.NewFields(setup)
//	if err != nil { ... }
//	g, parts, err := f.At(theta, angle)
//	if err != nil { ... }
//	s, err := noise.NewSpeckles(parts, frames, contrast, offset, 1/count)
//	if err != nil { ... }
//	c2 := s.Correlated(pixels, tensor.NewStream(seed, 0, 0))
//
// Entries of c2 that share a frame scatter together. CellCovariance, PairScores and FrameScores say how much, for means over cells of lag and
// age, for fits of pairs and for the likelihood of frames.
package noise
