// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package mask chooses the pixels of a detector that an analysis uses.
//
// A [Mask] says for every pixel whether it is kept. A [Step] is one way to make a mask: a blemish or
// a file, a [Threshold], a [Constraint] of maps such as q and phi, a list of pixels, a drawn [Shape], or the [Outliers] of
// rings and tiles. A [History] applies steps one after another, with undo and redo, and its [Recipe]
// makes the same mask again from JSON.
//
//	h, err := mask.NewHistory(mask.Source{Height: 512, Width: 512, Image: image, Maps: map[string][]float64{"q": q, "phi": phi}}, "")
//	if err != nil { ... }
//	changed, err := h.Apply(mask.Step{Threshold: &mask.Threshold{Low: 1, High: 1e4}})
//	changed, err = h.Apply(mask.Step{Draw: []mask.Shape{{Kind: mask.Circle, Center: mask.Point{250, 260}, Radius: 12}}})
//	h.Undo()
//	fmt.Println(h.Mask()) // how many pixels are kept
//
// [FindCenter] finds the direct beam in an image with masked pixels, and [Moments] the [Ellipse] whose
// coordinates take the place of q and azimuth for stretched patterns.
//
// Masks are row-major, rows grow downwards, and points are (row, column) in pixels counted from 0: the
// middle of the first pixel is (0, 0).
package mask
