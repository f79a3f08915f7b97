// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package phasing finds the voxels of a thin sample from its scattering patterns alone, by iterated projections: no start is needed.
//
// A pattern holds the magnitude of a Fourier transform and not its phase. [Solve] projects a guess in turn onto what is measured and onto
// what is known of the sample, that it is inside a support and its volume fractions are between 0 and 1, from many random starts. Their
// mean after alignment is the result, and their spread its error; pixels that were left out of the projections tell whether the result
// predicts what it has not seen.
//
//	p := phasing.Problem{Shape: [2]int{64, 64}, Fields: 1, Patterns: []phasing.Pattern{{Intensity: i, Components: [][]complex128{{1}}}}}
//	r, err := phasing.Solve(ctx, p, phasing.Settings{Seed: 1})
//	fmt.Println(r.Mean[0], r.Free, r.Findings)
//
// All patterns lie on the grid of q that belongs to the box of voxels, with q = 0 at row Y/2 and column X/2. A pattern sees the sample along
// the beam alone: the voxels are those of its projection.
package phasing
