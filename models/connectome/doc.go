// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package connectome trains the connections of neural assemblies: the k-cap that chooses winners is
// made soft, and plasticity and time are part of a differentiable graph.
//
//	soft := connectome.KCap{Kind: connectome.Sigmoid, Temperature: 0.5}
//	y := soft.Of(h, ad.Scalar(k))
//	run := connectome.Unroll(stimulus, ws, wr, beta, connectome.Dynamics{Steps: 4, Cap: soft})
//	loss := connectome.Overlap(run.Last(), targets)
//	grads := ad.Grad(loss, ws, wr, beta)
//
// A [Circuit] of stimuli, areas and fibres is trained by [Train] on [Examples], with losses such as
// those of [Readout]; plasticity may run within the loss, so that a circuit learns how to learn.
// [FitP], [FitBeta], [FitCompletion] and [FitAssociation] sample the parameters given synapse
// counts, weights and curves, and [FitSimulator] samples them given the overlaps of a forming
// assembly, by a [Simulator].
//
// [UnrollSparse] is for areas too large for matrices, with [Listed] synapses, [LowRank] weights
// that are drawn when needed, or a [Mask] whose probability has a gradient.
//
// Hard assemblies are simulated by package sim/assembly.
package connectome
