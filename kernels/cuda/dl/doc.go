// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package dl opens shared libraries of the machine at run time, without cgo and without their
// headers: the CUDA driver, the run-time compiler, and NVIDIA's numerical libraries.
//
// A [Spec] lists the file names of a library, [Open] looks for it where installations put it and
// returns a [Library] or a [*NotFound] that lists every place that was tried, [Library.Symbol]
// returns the address of a function, and [Call] calls one:
//
//	lib, err := dl.Open(dl.Spec{Name: "CUDA", Sonames: []string{"libcuda.so.1"}})
//	if err != nil {
//		return err // names every file that was tried, and why it could not be opened
//	}
//	version := new(int32)
//	dl.Call(lib.Symbol("cuDriverGetVersion"), uintptr(unsafe.Pointer(version)))
//
// With the build tag nocuda, and on systems for which there is no CUDA, the package opens nothing,
// a binary stays static, and Open says so.
package dl
