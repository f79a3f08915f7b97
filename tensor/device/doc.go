// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package device keeps arrays of gorgonia.org/tensor in the memory of a GPU and computes on them
// there.
//
// An [Engine] is a tensor.Engine: Gorgonia's functions find its operations through their own
// interfaces, so tensor.Add, tensor.MatMul, tensor.Sum and so on work on arrays of the device.
// [Relu] and [Sigmoid], which Gorgonia lacks, are functions of this package. [Engine.ToDevice] and
// [Engine.ToHost] copy between the two memories. Elements are float32 or float64; comparisons give
// bool and indices int. Views that are not contiguous are copied on the device first, except by
// products of matrices, which read any layout. A result of one element, such as the sum of a whole
// array, is returned in the processor's memory.
//
//	d, err := cuda.Open(0, cuda.Settings{})
//	e := device.New(d)
//	x, err := e.ToDevice(host)
//	y, err := gt.Tanh(x) // gt is gorgonia.org/tensor
//	s, err := gt.Sum(y)  // in the processor's memory
//	back, err := e.ToHost(y.(*gt.Dense))
//
// Memory is given back by [Engine.Release], or after the collector has found the array unreachable.
// A view made by Dense.Slice does not keep its array alive, so keep the array until the view is no
// longer used. [Engine.Slice] makes a view that does.
//
// Gorgonia itself reads the address in some methods of Dense, and that crashes for memory of a
// device: Data and ScalarValue of arrays whose elements are then read, Get, Set, Zero, Outer, Eq,
// GobEncode, the writers of NPY and CSV, and Format, which fmt.Println calls; print what
// [Engine.ToHost] returns. Code of this module asks IsNativelyAccessible first and
// returns an error. Where Gorgonia allocates a result itself, as MatMul without a tensor to reuse
// does, it panics if the device has no memory; WithReuse and Dot avoid that.
package device
