// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package farfield_test

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

// The brightest pixel is where the beam meets the detector, and the pattern of one voxel is as wide as the detector.
func Example() {
	v, err := farfield.NewVolume(farfield.VolumeSettings{Shape: [3]int{1, 1, 1}, Voxel: 2, MaxQ: 0.3, MinK: 1.44})
	if err != nil {
		panic(err)
	}
	f, err := v.Fields(rsoxs.MaterialNodes{Vfrac: ad.Full(1, 1, 1, 1)})
	if err != nil {
		panic(err)
	}
	d := farfield.Detector{Rows: 3, Columns: 3, PixelY: 1, PixelX: 1}
	dir := d.Directions(farfield.Pose{Distance: ad.Scalar(20), PoniY: ad.Scalar(1.5), PoniX: ad.Scalar(1.5)})
	k := ad.Scalar(1.44)
	contrast := farfield.Tensor(ad.Const([]float64{1e-3, 0, 1e-3, 0}))
	images := v.Intensities(v.Amplitude(k, []*farfield.Fields{f}, []farfield.Contrast{contrast}, 0), k, dir)
	i, err := ad.Eval(images...)
	if err != nil {
		panic(err)
	}
	pattern := i[0].Float64s()
	for y := range 3 {
		fmt.Printf("%.5f %.5f %.5f\n", pattern[3*y]/pattern[4], pattern[3*y+1]/pattern[4], pattern[3*y+2]/pattern[4])
	}
	// Output:
	// 0.99751 1.00000 0.99751
	// 0.99751 1.00000 0.99751
	// 0.99751 1.00000 0.99751
}
