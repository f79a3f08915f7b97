// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package ndimage filters and resamples arrays of any number of axes, as nodes of a graph: they can
// be differentiated to any order and run on every back end. The results are those of SciPy's module
// of the same name.
//
// A [Mode] says how an array continues beyond its ends. [Gaussian] and [Uniform] are weighted means
// over neighbours, [Median] is the median of a box, and [Zoom] resamples by splines. All but Median
// are linear: along each axis they multiply with a sparse matrix, see [autodiff.SparseMatrix].
//
//	x := ad.Input("image", 480, 640)
//	smooth := ndimage.Gaussian(x, ndimage.GaussianSettings{Sigma: []float64{1.5}})
//	half := ndimage.Zoom(smooth, ndimage.ZoomSettings{Factor: []float64{0.5}, Order: 3})
//	loss := ad.Sum(ad.Square(half))
//	p, err := ad.Compile([]*ad.Node{loss, ad.Grad(loss, x)[0]}, ad.Settings{})
package ndimage

import "github.com/euryale-dev/euryale/internal/given"

func init() { given.BuildsGraphs() }
