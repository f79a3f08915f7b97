// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package optim fits models and minimises functions: it does nonlinear least squares with bounds,
// robust losses and honest covariances, runs many small fits at once, and minimises functions with
// gradients.
//
// A [Problem] is a residual vector as a function of parameters, given as a graph (exact Jacobians)
// or as Go functions. [LeastSquares] returns a [Result] whose [Status] says in words how it ended;
// not converging is a status, not an error.
//
//	a, b := autodiff.Input("a"), autodiff.Input("b")
//	model := autodiff.Mul(a, autodiff.Exp(autodiff.Neg(autodiff.Mul(b, autodiff.Const(x)))))
//	prob, err := optim.FromModel(model, []*autodiff.Node{a, b}, optim.Observed{Y: y})
//	prob.Start = []float64{1, 1}
//	res, err := optim.LeastSquares(ctx, prob, optim.Settings{RelativeSigma: true})
//	fmt.Println(res.X, res.SD(), res.Status)
//
// [GlobalFit] joins data sets, [FitSeparable] projects linear coefficients out, [FitStream] reads
// data that do not fit in memory, and [MultiStart] looks for other minima. [FromErrorsInX]
// takes errors of explanatory variables. [Profile], [Contours], [Bootstrap], [ConfidenceBand],
// [Result.Derive] and [Result.Health] say how far a fit can be trusted.
//
// [NewBatch] fits thousands of small rows of data side by side. [Minimize] finds minima of a
// [Function] with bounds or without; a [Descent] follows gradients by the rules of stochastic
// training.
package optim

import "github.com/euryale-dev/euryale/internal/given"

func init() { given.BuildsGraphs() }
