// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package viz draws posteriors, fits and images, and collects them in a report.
//
// Every plot is a function that returns a Figure, and a Figure can be written as SVG, PNG, PDF or
// HTML. A notebook cell that ends in a Figure shows it. Values that are not finite are left out of a
// picture and counted in its note.
//
//	fit, err := infer.Sample(ctx, model, infer.Settings{Seed: 1})
//	d := viz.FromFit(fit)
//	d.Units = map[string]string{"tau": "s"}
//	trace, err := viz.Trace(d)
//	pair, err := viz.Pair(d, "tau", "contrast")
//	page := viz.Report{Title: "g2 of bin 7", Sections: []viz.Section{{
//		Title: "Sampling", Figures: []*viz.Figure{trace, pair}, Tables: []string{fit.Summary().HTML()},
//	}}}
//	os.WriteFile("report.html", []byte(page.HTML()), 0o644)
//
// The package writes no files and keeps no state. All of its style is in
// palette.go (colours, type, strokes) and axes.go (frames, ticks, labels).
package viz
