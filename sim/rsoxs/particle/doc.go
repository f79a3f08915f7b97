// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package particle has the scattering of bodies whose Fourier transforms are known, as graphs: balls, cores in shells, cylinders,
// ellipsoids, plates and stacks of lamellae, alone or in ensembles.
//
// Package farfield sums over voxels. A body whose director is uniform or radial needs none: its transform is a formula, or one integral
// along a radius, which costs a thousandth and is exact at every q. All are centred at the origin and have a centre of inversion, so that
// the transforms are real. A body returns the [Fields] of its materials at some q, and [Amplitude] and [Intensities] combine these with
// the optical constants, as farfield does.
//
//	shell := particle.CoreShell{Radius: r, Shell: t, Aligned: s, Edge: particle.Edge{Width: w}, Reach: particle.Reach{Q: 0.8, Size: 40}}
//	images := shell.Intensities(k, dir, contrasts, 0, math.Pi/2)   // dir from farfield.Detector.Directions
//
// Lengths are in nm, q in 1/nm, angles in radians, transforms in nm^3: divided by the volume of a voxel they are sums over voxels. Phases
// are exp(+i q r).
package particle

import "github.com/euryale-dev/euryale/internal/given"

func init() { given.BuildsGraphs() }
