// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package report builds pages about analyses: a title, facts with a verdict, tables and
// figures.
//
//	page := report.Posterior("radii", fit, verdict, report.Settings{})
//	page.Facts = append(page.Facts, viz.Fact{Name: "file", Value: file})
//	err := page.Save("run4") // report.html, and plots/ as SVG and PNG
//
// A [Page] is a viz.Report with an [Album], which names the files of its figures. There is one for each
// kind of analysis: [Posterior], [Formula], [CurveFits], [CurvePosterior] and [Morphology]. A figure
// that cannot be drawn is left out and reported to the Note of the settings.
//
// The package also draws the figures of the command line that belong to no page: [Support], [Overlaps]
// and [Raster] for neural assemblies, [Slice] and [Sampled] for morphologies, [Patterns] and [Curves]
// for scattering.
package report
