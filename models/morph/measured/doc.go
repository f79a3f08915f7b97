// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package measured is the forward model of a scattering measurement: what a detector counts of the light that a morphology scatters.
//
// Package morph compares patterns that were simulated, on the grid of q of a box of voxels. A measurement has pixels at q of their own, and
// much that is not scattering by the morphology: a beam that does not meet the detector where the file says, a blur, backgrounds,
// absorption, exposures, dark counts, light that is not fully polarised. The expected counts of pixel i in a frame of exposure t are
//
//	t { i0 Omega [ T (s (G * I)(q_i) + T b + T b4 (q_i/q0)^-4) + f ] + d }
//
// where I is P I_p + (1 - P) I_(p + 90) of package sim/rsoxs/farfield, G a Gaussian blur, s a scale, b and b4 backgrounds that the sample
// absorbs, f fluorescence, d dark counts, T the transmission, Omega the solid angle and i0 the flux. Each effect is a [Nuisance] in a file
// of its own; a parameter that is neither searched nor fixed leaves its effect out.
//
// Lengths of samples are in nm, those of detectors in mm, q in 1/nm, energies in eV, times in s.
package measured

import "github.com/euryale-dev/euryale/internal/given"

func init() { given.BuildsGraphs() }
