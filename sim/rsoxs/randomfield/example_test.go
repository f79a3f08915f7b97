// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package randomfield_test

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs/randomfield"
)

// A cut field has about the volume fraction that was asked for, whatever the seed.
func Example() {
	f := randomfield.Field{Shape: [3]int{16, 32, 32}, Voxel: 2, Seed: 1}
	v, err := ad.Eval(randomfield.Cut(f.Values(ad.Scalar(12), ad.Scalar(0.15)), ad.Scalar(0.4), 0.1))
	if err != nil {
		panic(err)
	}
	sum := 0.0
	for _, x := range v[0].Float64s() {
		sum += x
	}
	fmt.Printf("%v voxels, %.2f of them filled\n", v[0].Shape(), sum/float64(16*32*32))
	// Output:
	// (16, 32, 32) voxels, 0.40 of them filled
}
