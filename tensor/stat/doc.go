// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package stat computes order statistics, histograms and grids of plain numbers, with the results
// of NumPy.
//
// Quantiles are computed by any [Method], along an axis or over all elements; a NaN makes the
// result NaN, or is ignored by the functions whose names begin with NaN. [Digitize], [Bincount] and
// [Unique] sort numbers into bins; [Linspace], [Logspace], [Mod] and [Round] make their edges and
// are exact where an integer depends on them: no fused multiply-add changes their last bit on any
// machine.
//
//	q := stat.Percentile(x, []float64{5, 50, 95}, stat.LinearMethod)
//	edges := stat.Linspace(0, 1, 11)
//	bin := stat.Digitize(x, edges, false) // 0 below, 11 at and above the last edge
//
// Misuse panics: bins that neither ascend nor descend, shapes that do not fit, an unknown method.
package stat
