// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package lockstep moves many chains of the no-U-turn sampler in lock step on one core. One
// run of a compiled program makes a leapfrog step in every lane; between two runs the tree
// of each lane takes its new leaf (runner.go). A lane whose chain has ended goes on with the
// next one of its Queue. Densities of few parameters have whole leapfrog steps in the program
// (leapfrog.go), others only the density and its gradient (density.go). The columns of the
// draws are computed many at a time, too (columns.go).
package lockstep
