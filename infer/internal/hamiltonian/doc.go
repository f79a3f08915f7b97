// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package hamiltonian makes the transitions of Hamiltonian Monte Carlo: leapfrog steps
// under a metric (leapfrog.go, metric.go), a Tree for the no-U-turn sampler (nuts.go,
// subtree.go) and a FixedLength for plain trajectories (hmc.go), on what both share, a
// Trajectory (trajectory.go). It knows densities and random
// streams, and nothing of chains.
package hamiltonian
