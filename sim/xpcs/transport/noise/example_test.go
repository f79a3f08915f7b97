// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package noise_test

import (
	"fmt"
	"log"

	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/sim/xpcs/transport/noise"
	"github.com/euryale-dev/euryale/tensor"
)

// This example draws the two-time correlations of 20000 pixels of a diffusing sample and compares
// them with the model, offset + contrast g. The scatter about it is what a fit has to deal with.
func Example() {
	setup := transport.Setup{Model: transport.Static, Q: 0.0054, Angles: []float64{0}}
	for i := range 20 {
		setup.Times = append(setup.Times, 0.5*float64(i+1)) // s
	}
	f, err := noise.NewFields(setup)
	if err != nil {
		log.Fatal(err)
	}
	g, parts, err := f.At([]float64{10000, 0, 0}, 0) // D0, alpha and D_offset, at an angle of 0 degrees
	if err != nil {
		log.Fatal(err)
	}
	const frames, contrast, offset, count = 20, 0.3, 1.0, 2.0 // count is the mean of a pixel in a frame
	s, err := noise.NewSpeckles(parts, frames, contrast, offset, 1/count)
	if err != nil {
		log.Fatal(err)
	}
	c2 := s.Correlated(20000, tensor.NewStream(1, 0, 0))
	for _, lag := range []int{0, 1, 4, 16} {
		want := offset + contrast*g[lag]
		if lag == 0 {
			want += 1 / count // photon noise stays on the diagonal
		}
		fmt.Printf("frames 0 and %d: c2 = %.2f, model %.2f\n", lag, c2[lag], want)
	}
	// Output:
	// frames 0 and 0: c2 = 1.80, model 1.80
	// frames 0 and 1: c2 = 1.26, model 1.26
	// frames 0 and 4: c2 = 1.17, model 1.17
	// frames 0 and 16: c2 = 1.02, model 1.03
}
