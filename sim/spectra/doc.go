// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package spectra builds the forward model of stellar spectra as a graph, from the logarithm of a
// template to the likelihood of observed spectra, for one star or a batch of stars.
//
// An [Arm] holds what all spectra of one wavelength grid share: the knots of the template, the observed wavelengths,
// the continuum's basis, the resolution. [NewLikelihood] builds the chain
//
//	template -> exp -> rotation -> cubic spline -> Doppler shift -> resolution -> chi-square
//
// in which the continuum's coefficients are integrated out. It is an ordinary graph, so that
// package autodiff provides gradients of any order, batches and devices.
//
//	arm, err := spectra.NewArm(spectra.ArmSettings{Template: knots, Observed: lam, Continuum: 10})
//	vel, vsini := autodiff.Input("vel", b), autodiff.Input("vsini", b)
//	like := spectra.NewLikelihood(vel, vsini, spectra.Exposure{
//		Arm: arm, Template: logFlux, // b rows of knots
//		Flux: flux, Err: sigma,      // b rows of pixels
//	})
//	grads := autodiff.Grad(like.ChiSquare, vel, vsini)
//	gradient, gaussNewton := like.GaussNewton(vel, vsini)
//
// Wavelengths are in Angstrom, velocities in km/s, positive away from the observer; c = [SpeedOfLight]. The
// conventions are those of rvspecfit (S. Koposov), whose results it reproduces.
package spectra

// SpeedOfLight is the speed of light in vacuum, in km/s.
const SpeedOfLight = 299792.458
