// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rtc_test

import (
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// A program is compiled for a device of compute capability 9.0. The example needs NVRTC, but no GPU.
func Example() {
	c, err := rtc.Open(rtc.Settings{})
	if errors.Is(err, rtc.ErrNoCompiler) {
		log.Fatal(err) // lists every file that was tried
	}
	if err != nil {
		log.Fatal(err)
	}
	const text = `extern "C" __global__ void double_it(float* x) { x[threadIdx.x] *= 2; }`
	image, err := c.Compile(rtc.Source{Name: "double.cu", Text: text}, rtc.Target{Major: 9, Minor: 0})
	if err != nil {
		log.Fatal(err) // shows the compiler's messages and the lines that they name
	}
	fmt.Println(image.Arch, len(image.Data), "bytes, from the cache:", image.Cached)
}

// The cache keeps images under their keys, for other processes too. An entry that is damaged is not returned.
func ExampleCache() {
	folder, err := os.MkdirTemp("", "images")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	cache := rtc.NewCache(folder, 1<<20)
	cache.Write("0123abcd", []byte("an image"))
	image, found := cache.Read("0123abcd")
	fmt.Printf("%q %v\n", image, found)
	cache.Remove("0123abcd")
	_, found = cache.Read("0123abcd")
	fmt.Println(found)
	// Output:
	// "an image" true
	// false
}

// A program that does not compile gives an error with the line that the compiler names.
func ExampleCompileError() {
	source := rtc.Source{Name: "half.cu", Text: "extern \"C\" __global__ void half(float* x) {\n\tx[i] /= 2;\n}"}
	err := &rtc.CompileError{Result: "NVRTC_ERROR_COMPILATION", Log: "half.cu(2): error: identifier \"i\" is undefined", Source: source, Options: []string{"--gpu-architecture=sm_90"}, Compiler: "NVRTC 12.9"}
	fmt.Println(err)
	// Output:
	// cuda: half.cu does not compile with NVRTC 12.9: NVRTC_ERROR_COMPILATION
	// half.cu(2): error: identifier "i" is undefined
	// options: --gpu-architecture=sm_90
	// The program says:
	//     1 | extern "C" __global__ void half(float* x) {
	//     2 | 	x[i] /= 2;
	//     3 | }
}
