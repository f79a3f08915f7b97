// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package infer draws from posterior distributions with the no-U-turn sampler
// and says how far the draws can be trusted.
//
// A Target is a log density with its gradient on unconstrained space. Sample
// runs several chains on it and returns a Fit, which holds the draws with their
// statistics, and makes their summary and diagnosis.
//
//	target := infer.Func(2, func(q, g []float64) float64 {
//		g[0], g[1] = -q[0], -q[1]/4
//		return -q[0]*q[0]/2 - q[1]*q[1]/8
//	})
//	fit, err := infer.Sample(ctx, target, infer.Settings{Seed: 1})
//	if err != nil {
//		return err
//	}
//	fmt.Println(fit.Summary())
//	fmt.Println(fit.Diagnose())
//
// Draws depend on the seed and the settings only, not on the number of threads
// or on which chains run together; a cancelled or killed run continues from its
// checkpoint bit for bit.
package infer

import "github.com/euryale-dev/euryale/internal/given"

func init() { given.BuildsGraphs() }
