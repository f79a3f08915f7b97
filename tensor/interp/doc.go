// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package interp interpolates tables of numbers, with the results of SciPy's scipy.interpolate.
//
// A [Function] is piecewise polynomial in one variable: made by [New] in any of its kinds, or by [CubicSpline], [PCHIP] or
// [Akima]. It has derivatives and integrals. A [Grid] interpolates in any number of variables on a regular grid. Both are
// immutable and may be used by many goroutines.
//
//	f, err := interp.New([]float64{0, 1, 2, 4}, []float64{1, 3, 2, 5}, interp.Settings{Kind: interp.Cubic})
//	if err != nil {
//		return err
//	}
//	y, err := f.At([]float64{0.5, 1.5}) // 2.9375 1.9375
//
// A point outside the table is an error unless the settings say otherwise, and at NaN everything is NaN. Data that cannot
// be interpolated are errors, too.
package interp
