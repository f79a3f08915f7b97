// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package ode solves initial value problems inside a graph: the solution at given times is a Node,
// differentiable with respect to the initial state and the parameters.
//
//	lotka := func(t *ad.Node, y, p []*ad.Node) []*ad.Node {
//		return []*ad.Node{
//			ad.Mul(ad.Sub(p[0], ad.Mul(p[1], y[1])), y[0]),
//			ad.Mul(ad.Sub(ad.Mul(p[3], y[0]), p[2]), y[1]),
//		}
//	}
//	z := ode.Solve(lotka, z0, 0, times, theta, ode.Settings{RTol: 1e-6}) // (times, 2)
//
// The step length adapts to the tolerances, and a step ends at every requested time. Gradients are
// those of the steps that were made, with their lengths held fixed; they are exact for the numbers
// returned, are computed by the adjoint of each step, and cost about four times as much as the
// solution. Steps of explicit methods on small systems of scalars run as machine code where there is any, with the same results.
package ode

import "github.com/euryale-dev/euryale/internal/given"

func init() { given.BuildsGraphs() }
