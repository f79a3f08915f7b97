// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// A kernel that is written in CUDA C doubles numbers on a GPU. The example needs one, and NVRTC.
func Example() {
	dev, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		log.Fatal(err) // says which libraries were tried, or what is wrong with the driver
	}
	defer dev.Close()
	const text = `extern "C" __global__ void scale(double* x, double by, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) x[i] *= by;
}`
	m, err := dev.Compile(rtc.Source{Name: "scale.cu", Text: text})
	if err != nil {
		log.Fatal(err) // shows the compiler's messages with the lines that they are about
	}
	scale, err := m.Function("scale")
	if err != nil {
		log.Fatal(err)
	}
	ctx, values := context.Background(), []float64{1, 2, 3}
	x, err := dev.Alloc(8 * len(values))
	if err != nil {
		log.Fatal(err)
	}
	if err := dev.CopyIn(ctx, x, 0, values); err != nil {
		log.Fatal(err)
	}
	threads := 256
	if err := scale.Launch(dev.Default(), cuda.Blocks(len(values), threads), cuda.Dim{X: threads}, 0, x, 2.0, int32(len(values))); err != nil {
		log.Fatal(err)
	}
	if err := dev.CopyOut(ctx, values, x, 0); err != nil {
		log.Fatal(err)
	}
	fmt.Println(values)
}

// An elementwise function needs no kernel of one's own: a Map writes it from an expression. The first line of the kernel
// and the number of blocks that cover a million elements need no GPU.
func ExampleMap() {
	logistic := cuda.Map{Name: "logistic", Type: cuda.Float32, Inputs: []string{"x"}, Scalars: []string{"rate"}, Expression: "1 / (1 + exp(-rate * x))"}
	source := logistic.Source()
	fmt.Println(source.Name)
	for line := range strings.Lines(source.Text) {
		if strings.Contains(line, "__global__") {
			fmt.Print(line)
		}
	}
	fmt.Println(cuda.Blocks(1_000_000, 256).X)
	// Output:
	// logistic.cu
	// extern "C" __global__ void __launch_bounds__(256) logistic(const float* a0, float* out, long long n, float b0) {
	// 3907
}
