// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package basic_test

import (
	"fmt"
	"log"

	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/basic"
)

// The fixed set of kernels computes the hyperbolic tangent of an array on a GPU. The example needs one, but no NVRTC.
func Example() {
	dev, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		log.Fatal(err) // says which libraries were tried
	}
	defer dev.Close()
	k := basic.Open(dev)
	const n = 1000
	x, err := dev.Alloc(4 * n)
	if err != nil {
		log.Fatal(err)
	}
	if err := k.Fill(dev.Default(), 4, x.At(0), n, 0x3f000000); err != nil { // the bits of 0.5
		log.Fatal(err)
	}
	if err := k.Map(dev.Default(), "tanh", cuda.Float32, n, x.At(0), []cuda.Part{x.At(0)}); err != nil {
		log.Fatal(err)
	}
}

// The programs of the set and their PTX are part of the binary, so that they can be read or compiled without a GPU.
func ExampleSources() {
	for _, s := range basic.Sources() {
		fmt.Println(s.Name, len(s.Text) > 0, len(s.PTX) > 0)
	}
	// Output:
	// arrays.cu true true
	// maps_f32.cu true true
	// maps_f64.cu true true
}
