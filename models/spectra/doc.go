// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package spectra fits stellar spectra with templates: libraries of template spectra and their
// interpolators, first guesses by cross-correlation, fits of many stars at a time, and posteriors.
//
// A Library has templates for every arm of an instrument. Templates.LogFlux builds a graph from the
// parameters of stars to the logarithm of their spectra, on which package sim/spectra builds the
// likelihood.
//
//	lib, err := spectra.Open("library.h5", spectra.LoadSettings{})
//	fitter, err := spectra.NewFitter(lib, spectra.Settings{Continuum: 10})
//	fits, err := fitter.Fit(ctx, stars)
//	fmt.Println(fits[0].X, fits[0].SD, fits[0].Velocity, fits[0].Verdict)
//	post, err := fitter.Sample(ctx, &stars[0], &fits[0], infer.Settings{})
//
// Fitter.Guess finds starts for stars about which nothing is known. With Settings.PerExposure each
// exposure of a star has a velocity of its own, and the fit says whether these agree; those of
// binaries do not.
//
// A fit is a damped Newton search with an active set: the continuum is integrated out, the
// Gauss-Newton matrix is that of Kaufman's projection (doi:10.1007/BF01932995), and penalties
// confine it to the library. Errors come from the exact Hessian at the minimum; a parameter at a
// bound has a one-sided Limit instead. Stars whose spectra have the same wavelengths are fitted
// side by side, and the result of each has the same bits whichever others there are.
//
// Wavelengths are in Angstrom, velocities in km/s, effective temperatures in K, gravities and abundances in
// dex.
package spectra
