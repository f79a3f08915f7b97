// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lib_test

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/kernels/cuda/lib"
)

// Find reports on all of NVIDIA's numerical libraries, with their versions or with the places that were searched. What it
// prints depends on the machine.
func Example() {
	for _, f := range lib.Find() {
		if f.Err != nil {
			fmt.Println(f.Name, "is missing; to say where it is, set", f.Variable)
			continue
		}
		fmt.Println(f.Name, f.Version, f.Path)
	}
}

// The size of the result of a convolution follows from its settings and needs no GPU: a kernel of 3 by 3 with one row and
// column of padding keeps the size of an image, and a stride of 2 halves it.
func ExampleConvolution_Output() {
	c := lib.Convolution{N: 1, C: 3, H: 224, W: 320, K: 16, R: 3, S: 3, PadH: 1, PadW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Groups: 1}
	fmt.Println(c.Output())
	c.StrideH, c.StrideW = 2, 2
	fmt.Println(c.Output())
	// Output:
	// 224 320
	// 112 160
}

// A failed call carries the library's own name of the status, and can be told by its kind.
func ExampleError() {
	err := &lib.Error{Library: "cuBLAS", Version: "12.9.1", Call: "cublasCreate_v2", Code: 3}
	fmt.Println(err.Name(), errors.Is(err, lib.ErrAllocation))
	// Output: CUBLAS_STATUS_ALLOC_FAILED true
}
