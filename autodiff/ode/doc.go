// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package ode solves initial value problems inside a graph: the solution at given
// times is a Node, differentiable with respect to the initial state and the
// parameters.
//
//	lotka := func(t *ad.Node, y, p []*ad.Node) []*ad.Node {
//		return []*ad.Node{
//			ad.Mul(ad.Sub(p[0], ad.Mul(p[1], y[1])), y[0]),
//			ad.Mul(ad.Sub(ad.Mul(p[3], y[0]), p[2]), y[1]),
//		}
//	}
//	z := ode.Solve(lotka, z0, 0, times, theta, ode.Settings{RTol: 1e-6}) // (times, 2)
//
// Steps adapt to the tolerances and end on every time. Gradients are those of the
// steps that were made, with their lengths held: exact for the numbers returned,
// by the adjoint of each step, at about four times the cost of the solution.
package ode
