// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package tensor holds n-dimensional arrays: their shapes, element types, strided views, files and
// random numbers.
//
// A [Tensor] is a view of a Go slice: Slice, Permute and Broadcast share its memory, Compact
// copies. It converts to and from Gorgonia's *tensor.Dense without copying where the elements lie
// in order.
//
//	t, err := tensor.From([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
//	col := t.Slice(1, 1, 2, 1)        // shares memory
//	d := t.Dense()                    // a gorgonia *tensor.Dense on the same memory
//	err = t.WriteNPY(w)
//
// A [Dataset] holds arrays with named axes, and a [DataTree] holds named datasets; samplers hand
// them to the packages that write files.
//
// Conventions: row-major order, last axis fastest; axes count from 0 and, if negative, from the
// end. Random numbers are counter-based: see [Stream].
package tensor
