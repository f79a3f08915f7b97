// Package report makes pages about analyses: a title, facts with a verdict, tables and
// figures.
//
//	page := report.Posterior("radii", fit, verdict, report.Settings{})
//	page.Facts = append(page.Facts, viz.Fact{Name: "file", Value: file})
//	err := page.Save("run4") // report.html, and plots/ as SVG and PNG
//
// A [Page] is a viz.Report with an [Album] of its figures under the names of files. There is
// one for each kind of analysis: [Posterior], [Formula], [CurveFits], [CurvePosterior] and
// [Morphology]. A figure that cannot be drawn is left out, and whoever asks is told.
//
// Beside them are the pictures that commands draw alone: [Support], [Overlaps] and [Raster]
// of neural assemblies, [Slice] and [Sampled] of morphologies, [Patterns] and [Curves] of
// scattering.
package report
