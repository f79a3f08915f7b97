// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package drv_test

import (
	"errors"
	"fmt"
	"log"
	"math"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// The driver counts and names the GPUs of this machine. The example needs a driver.
func Example() {
	d, err := drv.Open()
	if errors.Is(err, drv.ErrNoDriver) {
		log.Fatal(err) // lists every file that was tried
	}
	if err != nil {
		log.Fatal(err)
	}
	n, err := d.DeviceCount()
	if err != nil {
		log.Fatal(err)
	}
	for i := range n {
		dev, err := d.Device(i)
		if err != nil {
			log.Fatal(err)
		}
		name, err := d.DeviceName(dev)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(i, name)
	}
}

// The arguments of a kernel are collected as bits and as structs in the layout of C, within the room that every device
// has.
func ExampleParameters() {
	p := drv.NewParameters()
	defer p.Release()
	p.Word(math.Float64bits(2.5)) // a double
	p.Word(uint64(1000))          // a long long
	p.Struct([]byte{1, 0, 0, 0, 2, 0, 0, 0})
	fmt.Println(p.Len(), p.Room(8), p.Room(8192))
	// Output: 3 true false
}

// A failed call can be told by its result, and some results mean that the device is lost to the process.
func ExampleError() {
	err := error(&drv.Error{Call: "cuMemAlloc_v2", Detail: "4096 bytes", Device: 0, Code: drv.OutOfMemory})
	fmt.Println(errors.Is(err, drv.OutOfMemory), drv.OutOfMemory.Sticky(false), drv.IllegalAddress.Sticky(false))
	// Output: true false true
}
