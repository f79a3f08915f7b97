// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package rsoxs simulates polarized resonant soft X-ray scattering and takes its
// exact gradients.
//
// A [Morphology] fills a volume of voxels with materials: volume fractions and, where a material is
// uniaxial, how far and along what it is aligned. [Optics] are the optical constants. A [Simulator]
// with a [Config] turns them into a [Pattern] on the detector, and derivatives with respect to the
// pattern into a [Gradient] with respect to every field and constant.
//
//	sim, err := rsoxs.New(m.Shape(), m.PhysSize, rsoxs.Config{
//		Energies: []float64{284.7, 285.2}, // eV
//		Angles:   rsoxs.Angles{Start: 0, Increment: 5, End: 175},
//	})
//	err = sim.Transform(ctx, m) // m is a Morphology
//	pattern, err := sim.Pattern(ctx, optics)
//	grad, err := sim.Gradient(ctx, optics, dPattern)
//
// The Born approximation and its conventions are those of CyRSoXS (Mukherjee et al., J. Appl.
// Cryst. 56 (2023) 868, doi:10.1107/S1600576723002790). The method differs: the dielectric tensor
// is a sum of a few real fields that do not depend on the energy, times complex numbers that do.
// Each field is transformed once, slice by slice, and only the elements that detectors read are
// kept; each energy and angle of the electric field then costs work on images only. The unexported
// types layout, spectra and projector do this work.
//
// With a GPU as Config.Backend all of this runs there, and the Nodes of a graph on a GPU leave
// their arrays on it; the CUDA C is in the folder cu.
package rsoxs
