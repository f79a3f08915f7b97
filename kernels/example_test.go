// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels_test

import (
	"fmt"

	"github.com/euryale-dev/euryale/kernels"
)

func Example() {
	exp := kernels.Unary64(kernels.Best(), "exp")
	a := []float64{0, 1, -1}
	exp(&a[0], &a[0], len(a))
	fmt.Printf("%.4f\n", a)
	fmt.Println(kernels.Unary64(kernels.Best(), "gamma") == nil)
	// Output:
	// [1.0000 2.7183 0.3679]
	// true
}

func ExampleGemm64() {
	a := []float64{1, 2, 3, 4} // 2 by 2
	b := []float64{5, 6}       // 2 by 1
	c := make([]float64, 2)
	var ws kernels.Workspace
	kernels.Gemm64(kernels.Best(), &ws, true, false, 2, 1, 2, 1, a, 2, b, 1, 0, c, 1)
	fmt.Println(c)
	// Output: [23 34]
}

// A constant has only the frequency 0; the inverse gives it back, times the number of elements.
func ExampleNewFFT() {
	plan := kernels.NewFFT(2, 4)
	var work kernels.FFTWorkspace
	x := []float64{3, 3, 3, 3, 3, 3, 3, 3}
	half := make([]complex128, 2*3)
	plan.Real64(half, x, &work)
	fmt.Println(half)
	plan.RealInverse64(x, half, &work)
	fmt.Println(x)
	// Output:
	// [(24+0i) (0+0i) (0+0i) (0+0i) (0+0i) (0+0i)]
	// [24 24 24 24 24 24 24 24]
}
