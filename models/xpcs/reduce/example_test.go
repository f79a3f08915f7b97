// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package reduce_test

import (
	"fmt"
	"log"
	"math"

	"github.com/euryale-dev/euryale/models/xpcs/reduce"
)

// This example averages an image over a sector in bins of q, subtracts a background, and finds the
// frequency of a vibration in the intensity of the frames.
func Example() {
	const size = 64
	image, q, phi := make([]float64, size*size), make([]float64, size*size), make([]float64, size*size)
	for i := range image {
		x, y := float64(i%size)-31.5, float64(i/size)-31.5
		q[i], phi[i] = 1e-3*math.Hypot(x, y), math.Atan2(y, x)*180/math.Pi // 1/angstrom and degrees
		image[i] = 100*math.Pow(q[i]/1e-3, -2) + 3                         // a power law on a background of 3
	}
	w, err := reduce.Wedge(image, q, phi, nil, reduce.Sector{From: -30, To: 30, Edges: []float64{0.004, 0.008, 0.016, 0.03}})
	if err != nil {
		log.Fatal(err)
	}
	p := reduce.Profile{Q: w.X, Lines: [][]float64{w.Mean}}
	clean, err := p.Subtract(reduce.Profile{Q: w.X, Lines: [][]float64{{3, 3, 3}}}, 1)
	if err != nil {
		log.Fatal(err)
	}
	for i, n := range w.Pixels {
		fmt.Printf("q = %.3f: %d pixels, %.2f with background, %.2f without\n", w.X[i], n, w.Mean[i], clean.Lines[0][i])
	}

	trace := make([]float64, 1000) // frames every 1 ms
	for i := range trace {
		trace[i] = 10 + 0.1*math.Sin(2*math.Pi*50*1e-3*float64(i)) + 0.01*math.Sin(float64(i*i))
	}
	frequency, amplitude, err := reduce.Spectrum(trace, 1e-3)
	if err != nil {
		log.Fatal(err)
	}
	for _, i := range reduce.Lines(amplitude, 10) {
		fmt.Printf("vibration at %.0f Hz\n", frequency[i])
	}
	// Output:
	// q = 0.006: 26 pixels, 5.75 with background, 2.75 without
	// q = 0.012: 100 pixels, 3.71 with background, 0.71 without
	// q = 0.023: 336 pixels, 3.19 with background, 0.19 without
	// vibration at 50 Hz
}
