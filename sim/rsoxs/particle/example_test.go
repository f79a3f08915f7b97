// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package particle_test

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
	"github.com/euryale-dev/euryale/sim/rsoxs/particle"
)

// A shell of radial molecules scatters unequally along the field and across it, and turns with the field.
func Example() {
	d := farfield.Detector{Rows: 3, Columns: 3, PixelY: 3, PixelX: 3}
	dir := d.Directions(farfield.Pose{Distance: ad.Scalar(20), PoniY: ad.Scalar(4.5), PoniX: ad.Scalar(4.5)})
	core, shell := farfield.Tensor(ad.Const([]float64{0, 0, 0, 0})), farfield.Tensor(ad.Const([]float64{-1e-3, 2e-3, 1e-3, 5e-4}))
	c := particle.CoreShell{Radius: ad.Scalar(8), Shell: ad.Scalar(5), Aligned: ad.Scalar(0.9), Edge: particle.Edge{Width: ad.Scalar(0.5)},
		Reach: particle.Reach{Q: 0.5, Size: 25}}
	v, err := ad.Eval(c.Intensities(ad.Scalar(1.44), dir, []farfield.Contrast{core, shell}, 0, math.Pi/2)...)
	if err != nil {
		panic(err)
	}
	along, across := v[0].Float64s(), v[1].Float64s()
	fmt.Printf("a pixel along x has %.3f of the one along y, and the inverse for the other field: %.3f\n", along[5]/along[7], across[5]/across[7])
	// Output:
	// a pixel along x has 0.923 of the one along y, and the inverse for the other field: 1.084
}
