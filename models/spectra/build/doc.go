// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package build makes libraries of template spectra: it lists the spectra of a folder in a
// catalogue, brings them to the pixels and the resolution of an instrument, and prepares their
// interpolation on a regular grid or in a triangulation. It takes the place of rvs_read_grid,
// rvs_make_interpol and rvs_make_nd of rvspecfit (S. Koposov), whose files it writes.
//
//	catalogue, err := build.Scan(ctx, "PHOENIX", build.ScanSettings{Pattern: "lte*.fits"})
//	var arms []*rvspecfit.Library
//	for _, arm := range build.DESI() {
//		arm.Dir, arm.WaveFile = "PHOENIX", "WAVE_PHOENIX-ACES-AGSS-COND-2011.fits"
//		templates, err := build.Rebin(ctx, catalogue, arm)
//		if err != nil { ... }
//		grid, err := build.Regular(templates)
//		if err != nil { ... }
//		arms = append(arms, grid)
//	}
//	err = rvspecfit.WriteOpen("library.h5", arms, nil)
//
// A LineList is a model of stellar spectra in formulas, for tests and demonstrations.
//
// Wavelengths are in Angstrom, in vacuum unless stated otherwise; temperatures in K; logg, feh and
// alpha in dex.
package build
