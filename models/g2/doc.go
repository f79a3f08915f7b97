// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package g2 fits intensity correlation functions g2(tau) of X-ray photon
// correlation spectroscopy: by nonlinear least squares, every q bin in parallel,
// and by Bayesian sampling.
//
// A [Model] is one relaxation model with its parameters, bounds, starts and priors; a [Curve] is
// the data of one bin. [FitOne] and [FitAll] return point fits, [Posterior] returns the model that
// package infer samples, and [Starts] the points where chains begin, near a fit.
//
//	model, _ := g2.ByName("single")
//	fits, err := g2.FitAll(ctx, model, curves, g2.Settings{})
//	m, err := g2.Posterior(model, curves[3], g2.Settings{})
//	post, err := m.Compile()
//	starts, err := g2.Starts(post, fits[3], g2.Settings{}, 4, 1) // 4 chains, seed 1
//	fit, err := infer.Sample(ctx, post, infer.Settings{Seed: 1, Chains: 4, Init: starts})
//
// Three conventions for stretched decays are in use; with c = beta,
//
//	exp(-2 (x/b)^c)    aps_single, aps_double (without the 2, squared)
//	exp(-(2x/tau)^c)   stretched
//	exp(-2x/tau)       single, double
//
// and tau = 2^(1-1/c) b. Delays x and relaxation times are in seconds, q in
// 1/Angstrom.
package g2
