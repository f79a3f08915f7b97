// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package motion goes from files and configurations of two-time correlations to fits and posteriors of the motion of a sample, and to
// results in the layout of others.
//
//	config, err := homodyne.ReadConfig("flow.yaml")
//	if err != nil { ... }
//	p, err := motion.Open(config, "") // the file that the configuration names
//	if err != nil { ... }
//	fit, err := p.Fit(ctx, motion.FitSettings{Starts: 16})
//	if err != nil { ... }
//	for _, row := range fit.Rows() {
//		fmt.Println(row.Name, row.Value, row.SD, row.Unit)
//	}
//	maps, err := p.Maps(fit.Point())
//	if err != nil { ... }
//	err = fit.Result(maps, "my program").Write("run/nlsq", false)
//
// A Problem is the correlations with their model, of which package twotime makes fits and posteriors. A Fit has errors that allow for
// entries that share a frame, and a verdict.
package motion
