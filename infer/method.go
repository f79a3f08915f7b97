// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

// Method is how a chain moves.
type Method int

const (
	// NUTS lets each trajectory turn by itself. The default.
	NUTS Method = iota
	// HMC makes Settings.Steps leapfrog steps and accepts the end or stays, the
	// Metropolis-adjusted Langevin algorithm where Steps is 1. It serves
	// comparisons and densities whose good trajectory length is known; Symmetric
	// adapts the step to NUTS's trees, so Metropolis is what it adapts to.
	//
	// Reference: Neal, arXiv:1206.1901.
	HMC
	// SMC moves a cloud of Draws points in each of Chains islands from the priors to the posterior, by tempered sequential Monte
	// Carlo. It finds the masses of modes, and the evidence: Fit.Evidence. The density must be one of which draws can be had: that of the priors where
	// all parameters of a Posterior have priors to draw from, else normal distributions about the modes that climbs find. There is no warm-up.
	SMC
)
