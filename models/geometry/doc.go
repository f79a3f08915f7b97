// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package geometry calibrates the position of a detector from rings of known momentum transfer.
//
// [Calibrate] finds the rings of a powder such as silver behenate in an image, and fits beam centre and distance, or other
// parameters of an xpcs.Geometry, to them. [FindRings] and [FitPoints] are its two halves. A [Fit] has standard errors, and
// a verdict that says when rings and model disagree. [Posterior] is the same model for package infer.
//
//	g := xpcs.Geometry{Height: 512, Width: 512, CenterRow: 250, CenterCol: 260, PixelSize: 75e-6, Distance: 0.5, Energy: 10}
//	fit, err := geometry.Calibrate(ctx, image, m, g, geometry.SilverBehenate(4), geometry.Settings{})
//	if err != nil { ... }
//	fmt.Println(fit)       // values and errors
//	fmt.Println(fit.Check) // whether the rings agree with them
//	better := fit.Geometry
//
// [RingCenter] fits circles to points if the geometry is not known, and [Loss] and [RingVariance]
// are the objectives as nodes, for other optimisers.
package geometry
