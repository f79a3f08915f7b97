// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"fmt"
	"log"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// This example computes the two-time correlation of a sheared sample at two angles to the flow, with
// its derivative with respect to the rate of shear. Shear matters most along the flow.
func Example() {
	s := transport.Setup{Model: transport.Laminar, Times: []float64{1, 2, 3}, Q: 0.0054, Gap: 2e6, Angles: []float64{0, 60}}
	if err := s.Check(); err != nil {
		log.Fatal(err)
	}
	values := map[string]float64{"D0": 5000, "gamma_dot_t0": 1e-4} // all others are 0
	var theta []*ad.Node
	var shear *ad.Node
	for _, name := range s.Names() {
		p := ad.Scalar(values[name])
		if theta = append(theta, p); name == "gamma_dot_t0" {
			shear = p
		}
	}
	g := s.Pairs(theta, transport.AllPairs(len(s.Times))) // frames 0 and 1, 0 and 2, 1 and 2
	for i, angle := range s.Angles {
		v, err := ad.Eval(g[i], ad.Grad(ad.Sum(g[i]), shear)[0])
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%g degrees: g = %.3f, derivative of the sum %.0f s\n", angle, v[0].Data(), v[1].Data())
	}
	// Output:
	// 0 degrees: g = [0.784 0.498 0.784], derivative of the sum -7320 s
	// 60 degrees: g = [0.844 0.677 0.844], derivative of the sum -2167 s
}
