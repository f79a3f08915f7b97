// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package motion fits the motion of a sample to files and configurations of two-time correlations,
// samples its posterior, and writes results in the layout of other programs.
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
// A Problem holds the correlations with their model, which package twotime fits and samples. A Fit
// has errors that allow for entries that share a frame, and a verdict.
package motion
