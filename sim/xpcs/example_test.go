// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"fmt"
	"log"

	"github.com/euryale-dev/euryale/sim/xpcs"
)

// This example computes the momentum transfer and the azimuth of two pixels of a detector that
// stands 5 m behind the sample.
func Example() {
	g := xpcs.Geometry{Height: 512, Width: 512, CenterRow: 250, CenterCol: 260,
		PixelSize: 75e-6, Distance: 5, Energy: 10}
	m, err := g.QMap("q", "phi")
	if err != nil {
		log.Fatal(err)
	}
	q, err := m.Channel("q")
	if err != nil {
		log.Fatal(err)
	}
	phi, err := m.Channel("phi")
	if err != nil {
		log.Fatal(err)
	}
	for _, pixel := range [][2]int{{200, 310}, {150, 160}} { // row and column
		i := pixel[0]*m.Width + pixel[1]
		fmt.Printf("pixel %v: q = %.5f 1/angstrom, phi = %.0f degrees\n", pixel, q[i], phi[i])
	}

	_, err = xpcs.Geometry{Height: 512, Width: 512, Energy: 10}.QMap("q")
	fmt.Println(err)
	// Output:
	// pixel [200 310]: q = 0.00538 1/angstrom, phi = 45 degrees
	// pixel [150 160]: q = 0.01075 1/angstrom, phi = 135 degrees
	// xpcs: geometry: missing: PixelSize (m), Distance (m)
}
