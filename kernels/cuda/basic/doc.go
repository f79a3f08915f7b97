// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package basic holds a fixed set of kernels on arrays in the memory of a GPU: maps of elements,
// copies between layouts, reductions along an axis, and products of matrices, in float32 and
// float64.
//
// NVRTC compiles them for the device at hand. On machines that have a driver but no NVRTC, they are
// loaded from PTX in this package, which the driver compiles; make ptx regenerates it with clang.
// Programs of package autodiff are not in the set: their kernels are made at run time and need
// NVRTC.
//
//	k := basic.Open(device)
//	err := k.Map(stream, "tanh", cuda.Float32, n, y.At(0), []cuda.Part{x.At(0)})
package basic
