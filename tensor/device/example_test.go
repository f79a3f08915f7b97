// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"errors"
	"fmt"
	"log"

	gt "gorgonia.org/tensor"

	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/tensor/device"
)

// Gorgonia's own functions compute on arrays that an Engine holds in the memory of a GPU. The example needs one.
func Example() {
	gpu, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		log.Fatal(err) // says which libraries were tried
	}
	defer gpu.Close()
	e := device.New(gpu)

	host := gt.New(gt.WithShape(2, 2), gt.WithBacking([]float32{-1, 0, 1, 2}))
	x, err := e.ToDevice(host)
	if err != nil {
		log.Fatal(err)
	}
	y, err := device.Relu(x)
	if err != nil {
		log.Fatal(err)
	}
	sum, err := gt.Sum(y) // one number is returned to the processor's memory
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum)
}

// An array in the processor's memory is refused, and the error says how to mend that.
func ExampleRelu() {
	host := gt.New(gt.WithShape(2), gt.WithBacking([]float32{-1, 1}))
	_, err := device.Relu(host)
	fmt.Println(errors.Is(err, device.ErrNotHere))
	// Output: true
}
