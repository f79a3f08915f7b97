// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package notebook fits, samples, compares and draws in the cells of a Go notebook. Its functions take
// and return values that display themselves.
//
//	data := nb.OpenG2("result.hdf")
//	data                                             // a table of the bins
//	fits := data.Fit("single")
//	fits                                             // a table, all curves, a verdict
//	post := data.Sample("single", nb.Settings{Bin: 4}) // progress in place below the cell
//	post                                             // verdict, summary, picture
//	post.Trace()
//	nb.Compare(post, data.Sample("stretched", nb.Settings{Bin: 4}))
//	post.Report("g2.html")
//
// If there are only the frames of a detector, OpenMovie and Movie.Correlate come first. OpenMotion does
// the same for diffusion and flow in two-time correlations, and OpenInversion for the morphology behind
// scattering patterns. OpenCircuit trains a circuit of neural assemblies, SampleAssembly infers
// parameters from measured assemblies, and TrainNetwork trains a Gorgonia graph.
//
// Nothing here is generic, and functions keep no state except in what they return, so that cells can be
// run again in any order. Instead of returning an error, a function panics with an *Error, whose text
// the notebook shows with the line of the cell: what went wrong, and what to try. Interrupting the
// kernel stops a run and keeps the draws that are complete.
//
// A user-defined model is a function that builds a graph once:
//
//	post := nb.Sample("line", func(m *infer.Model) {
//		a := m.Param("a", dist.Normal(0, 10))
//		m.Observe("y", dist.Normal(a, 1), y)
//	}, nb.Settings{})
package notebook
