// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package demo makes the data sets of the demonstrations, which are small and synthetic and need no
// network.
//
//	err := os.WriteFile("g2_result.hdf", demo.Correlations(), 0o644)
//	curves, err := g2.OpenCurves("g2_result.hdf")
//
//	err = demo.WriteParticle(ctx, "particle", "my study")
//	task, err := morph.OpenTask("particle/problem.json", 0)
//	best, err := task.Fit(ctx, morph.FitSettings{}) // demo.Particle() is the truth
//
//	for _, x := range demo.Experiments() {
//		s, err := script.Parse(x.Name, x.Script())
//	}
//
//	files, err := demo.StarLibrary(ctx, demo.LibrarySettings{})
//	err = rvspecfit.WriteOpen("stars.h5", files, nil)
//
// Stars and WriteDESI draw synthetic stars from such a library.
package demo
