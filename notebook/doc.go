// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package notebook is made for the cells of a Go notebook: it opens data, fits, samples,
// compares and draws, and what it returns displays itself.
//
//	data := nb.OpenG2("result.hdf")
//	data                                             // a table of the bins
//	fits := data.Fit("single")
//	fits                                             // a table, all curves, a verdict
//	post := data.Sample("single", nb.Options{Bin: 4}) // progress in place below the cell
//	post                                             // verdict, summary, picture
//	post.Trace()
//	nb.Compare(post, data.Sample("stretched", nb.Options{Bin: 4}))
//	post.Report("g2.html")
//
// OpenMovie and Movie.Correlate come before that where there are only the frames of a detector.
// OpenMotion does the same for diffusion and flow behind two-time correlations,
// OpenInversion for the morphology behind scattering patterns, OpenCircuit trains a
// circuit of neural assemblies, SampleAssembly infers from measured ones, and TrainNetwork runs a
// graph of Gorgonia.
//
// Nothing here is generic, and nothing keeps state but what it returns, so that cells can be
// run again in any order. In place of returning an error a function panics with an *Error, of
// which the notebook shows the text with the line of the cell: what went wrong, and what to
// try. An interrupt of the kernel stops a run and keeps the draws that are complete.
//
// Models of one's own are functions that build a graph once:
//
//	post := nb.Sample("line", func(m *infer.Model) {
//		a := m.Param("a", dist.Normal(0, 10))
//		m.Observe("y", dist.Normal(a, 1), y)
//	}, nb.Options{})
package notebook
