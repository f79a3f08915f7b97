// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package transport models two-time correlations of moving samples as graphs: diffusion whose rate
// changes with time, shear between two plates, and a static or diffusing reference beside a sample
// that flows.
//
//	s := transport.Setup{Model: transport.Laminar, Times: times, Q: 0.0054, Gap: 2e6, Angles: []float64{0, 45, 90}}
//	theta, err := s.Inputs()
//	if err != nil { ... }
//	g := s.Pairs(theta, transport.AllPairs(len(times)))  // of each angle, a vector of the pairs
//
// For passes over all pairs of many frames, Frames evaluates the terms of single frames, with
// derivatives, and Tile is the graph of a rectangle of pairs that combines them: most of an
// exponential, sine or cosine of a difference is computed for frames, not for pairs.
//
// Store keeps measured correlations in the memory of GPUs, and its Sums add products over all pairs there: parameters go up, sums come
// down.
//
// c2(t1, t2) = offset + contrast g(t1, t2) with g from 0 to 1. Lengths are in angstroms, wavevectors in 1/angstrom, times in s and
// angles in degrees. J(t) = D0 t^alpha + D_offset is the transport coefficient: a stationary diffusion with the coefficient D
// of Stokes and Einstein has J = 2 D.
//
// Sources: H. He et al., PNAS 121 (2024), doi:10.1073/pnas.2401162121, and PNAS 122 (2025), doi:10.1073/pnas.2514216122, for the models;
// integrals are closed forms where programs of the field sum trapezoids. Setup.Customary repeats the numbers of these programs.
package transport

import "github.com/euryale-dev/euryale/internal/given"

func init() { given.BuildsGraphs() }
