// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/euryale-dev/euryale/models/g2"
)

// This example fits the relaxation times of three bins whose particles diffuse, so that the
// relaxation time falls with the square of q, and then the power law of these times.
func Example() {
	ctx := context.Background()
	var curves []g2.Curve
	for bin, q := range []float64{0.002, 0.004, 0.008} { // in 1/Angstrom
		c := g2.Curve{Bin: bin + 1, Q: q}
		tau := 8e-6 / (q * q) // in s
		for i := range 30 {
			x := 1e-3 * math.Pow(10, float64(i)/7)
			noise := 0.002 * math.Sin(float64(7*i+bin))
			c.X, c.Y, c.Err = append(c.X, x), append(c.Y, 1+0.2*math.Exp(-2*x/tau)+noise), append(c.Err, 0.002)
		}
		curves = append(curves, c)
	}
	single, err := g2.ByName("single")
	if err != nil {
		log.Fatal(err)
	}
	fits, err := g2.FitAll(ctx, single, curves, g2.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range fits {
		for i, p := range f.Model.Params {
			if p.Name == "tau" {
				fmt.Printf("bin %d: %s, tau = %.3f s\n", f.Curve.Bin, f.Status, f.X[i])
			}
		}
	}
	power, err := g2.ByName("power")
	if err != nil {
		log.Fatal(err)
	}
	law, err := g2.FitOne(ctx, power, g2.TauOfQ(fits), g2.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(power.Formula)
	for i, p := range power.Params {
		fmt.Printf("%s: %.2g\n", p.Name, law.X[i])
	}
	// Output:
	// bin 1: converged, tau = 1.996 s
	// bin 2: converged, tau = 0.500 s
	// bin 3: converged, tau = 0.124 s
	// tau0 q^-alpha
	// tau0: 7.8e-06
	// alpha: 2
}
