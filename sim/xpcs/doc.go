// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package xpcs computes the momentum transfer and the angles that the pixels of a detector see in
// X-ray photon correlation spectroscopy.
//
// A [Geometry] holds beam centre, distance, energy and pixel size, for transmission, with or
// without swing angles, and for reflection. Its [QMap] has the momentum transfer and the angles of
// every pixel; [Geometry.Node] is the same as a graph, with gradients with respect to every
// parameter. A [Mapper] computes maps again and again while parameters change.
//
//	g := xpcs.Geometry{Height: 512, Width: 512, CenterRow: 250.5, CenterCol: 260,
//		PixelSize: 75e-6, Distance: 5, Energy: 10}
//	m, err := g.QMap()
//	if err != nil { ... } // names every parameter that is missing
//	q, err := m.Channel("q") // 1/angstrom, row-major
//
// Its companions: partition divides maps into bins, mask chooses pixels,
// correlate turns frames into correlation functions, speckle simulates frames.
//
// Rows grow downwards, pixels are counted from 0, and a centre of (30.7, 20.3) is 0.7 of the way
// from row 30 to row 31.
package xpcs

import "github.com/euryale-dev/euryale/internal/given"

func init() { given.BuildsGraphs() }
