// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package dist provides probability distributions as log densities in a graph, with their
// supports and the transforms from the real line to those supports.
//
// A distribution is a value whose parameters are Nodes or numbers. LogProb returns the
// Node of its log density, and LogCDF and LogCCDF those of its tails. Support gives the
// range of its values, Transform maps unconstrained numbers to that range for samplers,
// and Fill draws arrays once the parameters are known. Distributions of scalars, vectors
// and matrices have the same type: Event is the number of axes of one value. Truncate,
// Censored, Mixture and Independent derive distributions from others. Each family has its
// own file, and every family in All passes the same checks: its density integrates to 1,
// its gradients are correct, and its draws follow its distribution function.
//
//	prior := dist.LogNormal(0, 2)
//	lp := prior.LogProb(tau)          // a Node of tau's shape
//	u := autodiff.Input("u")          // unconstrained
//	tau, logJ := prior.Transform().Constrain(u)
//	y := dist.Truncate(dist.StudentT(4, tau, 1), 0, nil)
//
// Conventions: scale parameters are standard deviations; Gamma, InverseGamma and
// Exponential take rates (beta) as in Stan; categories count from 0. Outside the support
// a log density is -Inf, with a gradient of 0.
package dist

import "github.com/euryale-dev/euryale/internal/given"

func init() { given.BuildsGraphs() }
