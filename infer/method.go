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
)
