// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package gp implements Gaussian processes as graphs: kernels, which give the covariance
// between points, and the distributions of the values at those points.
//
// A Kernel is built from its hyperparameters, which are numbers or Nodes, and kernels can
// be added and multiplied. Points are a vector, or a matrix with one row per point. A
// length scale may be a vector with one number per column. Marginal is the distribution
// of noisy observations. Condition gives the process at other points given such
// observations.
//
//	k := gp.SquaredExponential(alpha, rho)
//	m.Observe("y", gp.Marginal(k, x, nil, sigma2), ys)
//	p := gp.Condition(k, x, ys, nil, sigma2, xNew)
//	m.Deterministic("f", p.Mean)
//
// Conventions: alpha is a standard deviation, noise is a variance. Without noise, 1e-10
// of the mean variance is added before the Cholesky factorisation.
package gp

import "github.com/euryale-dev/euryale/internal/given"

func init() { given.BuildsGraphs() }
