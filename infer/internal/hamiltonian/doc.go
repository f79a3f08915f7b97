// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package hamiltonian makes the transitions of Hamiltonian Monte Carlo: leapfrog steps
// under a metric (leapfrog.go, metric.go), the trees of the no-U-turn sampler (nuts.go,
// subtree.go) and trajectories of fixed length (hmc.go). It knows densities and random
// streams, and nothing of chains.
package hamiltonian
