// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package geometry_test

import (
	"context"
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/models/geometry"
	"github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/mask"
)

// Rings of silver behenate tell where the detector stands.
func Example() {
	g := xpcs.Geometry{Height: 200, Width: 220, CenterRow: 96.4, CenterCol: 108.8, PixelSize: 172e-6, Distance: 0.25, Energy: 10}
	qm, err := g.QMap("q")
	if err != nil {
		panic(err)
	}
	q := geometry.SilverBehenate(3)
	image := make([]float64, len(qm.Values[0]))
	for i, at := range qm.Values[0] {
		image[i] = 20
		for _, c := range q {
			image[i] += 500 * math.Exp(-(at-c)*(at-c)/(2*0.008*0.008))
		}
		image[i] = math.Round(image[i])
	}
	g.CenterRow, g.CenterCol, g.Distance = 100, 105, 0.26 // a guess
	fit, err := geometry.Calibrate(context.Background(), image, mask.New(g.Height, g.Width), g, q, geometry.Settings{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("centre (%.2f, %.2f), distance %.4f m\n", fit.Geometry.CenterRow, fit.Geometry.CenterCol, fit.Geometry.Distance)
	// Output: centre (96.40, 108.80), distance 0.2500 m
}

// The centre of an arc that somebody marked.
func ExampleRingCenter() {
	var arc [][2]float64
	for i := range 12 {
		sin, cos := math.Sincos(0.1 * float64(i))
		arc = append(arc, [2]float64{20 + 50*sin, 30 + 50*cos})
	}
	c, err := geometry.RingCenter(context.Background(), arc)
	if err != nil {
		panic(err)
	}
	fmt.Printf("(%.3f, %.3f), radius %.3f\n", c.Row, c.Col, c.Radii[0])
	// Output: (20.000, 30.000), radius 50.000
}
