// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package twotime fits models of moving samples (package sim/xpcs/transport) to two-time
// correlations measured at many angles.
//
//	data := twotime.Data{Setup: setup, C2: c2}
//	fit, err := twotime.FitLeastSquares(ctx, data, twotime.Settings{Starts: 16})
//	if err != nil { ... }
//	shared, err := fit.SharedErrors(ctx, data, twotime.Settings{})
//
//	post, err := twotime.New(ctx, data, twotime.DefaultPriors(setup), twotime.PosteriorSettings{})
//	if err != nil { ... }
//	draws, err := infer.Sample(ctx, post, infer.Settings{})
//	if err != nil { ... }
//	verdict, err := post.Judge(ctx, draws, twotime.PosteriorSettings{})
//
// Contrast and offset are found in closed form at every point of a fit (variable projection; Golub
// & Pereyra, doi:10.1137/0710036), and integrated out of posteriors. A pass over the pairs of
// frames keeps only sums of products, so that memory does not grow with the number of parameters.
//
// With a Backend such as autodiff.CUDA{} in the settings the pairs stay in the memory of a GPU while a fit or chains pass over them; several GPUs
// share the angles.
//
// Entries of c2 that share a frame scatter together: errors of independent entries, Fit.SD, are too
// small by a third to a half. SharedErrors allows for this, and so do posteriors
// (docs/decisions/0019).
package twotime

import "github.com/euryale-dev/euryale/internal/given"

func init() { given.BuildsGraphs() }
