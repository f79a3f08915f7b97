// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package morph recovers morphologies from scattering patterns.
//
// A [Scene] describes the scattering object as a graph over parameters, either built from
// shapes ([Grid.Sphere], [Grid.Cylinder], [Grid.Lamellae]) or ready-made ([CoreShell],
// [Film], [Voxels]). An [Inversion] compares its patterns with data and finds the
// parameters by minimisation, by least squares with an exact Jacobian, or as a posterior.
// [Inversion.Information] predicts how much each energy constrains them.
//
//	grid := morph.Grid{Shape: [3]int{16, 48, 48}, Voxel: 2.5}
//	inv := &morph.Inversion{
//		Sim:    sim, // of package sim/rsoxs
//		Optics: optics,
//		Params: []morph.Param{{Name: "radius", Start: []float64{10}}, {Name: "shell", Start: []float64{11}}},
//		Build: func(p []*autodiff.Node) morph.Scene {
//			return morph.CoreShell{Grid: grid, Centre: c, Radius: p[0], Shell: p[1], Aligned: s}.Scene()
//		},
//		Data: measured,
//	}
//	best, err := inv.Minimize(ctx, optim.MinimizeSettings{})
//	fit, err := inv.Sample(ctx, infer.Settings{})
//
// Two kinds of files can replace Go code: a [Problem] is an inversion as a JSON document, and an
// [Experiment] is a CyRSoXS working directory in the form that a simulator needs.
//
//	p, err := morph.ParseProblem(document)
//	x, err := morph.OpenExperiment(".", "film.h5", morph.ExperimentSettings{})
//	pattern, err := rsoxs.Simulate(ctx, x.Morphology, x.Optics, x.Config)
//
// Lengths are in nm, angles in radians. Shapes are smooth: their edges are a fraction of
// a voxel wide, so that intensities have derivatives with respect to the sizes.
package morph

import "github.com/euryale-dev/euryale/internal/given"

func init() { given.BuildsGraphs() }
