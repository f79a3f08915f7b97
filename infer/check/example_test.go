// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/euryale-dev/euryale/infer/check"
)

// The data bend but the model is a straight line. Judge takes out what the fit of the line can absorb, which the
// Jacobian says, tests what remains, and says where the model fails and what to try.
func Example() {
	const n, sigma = 60, 0.1
	noise := rand.New(rand.NewPCG(1, 2))
	x, z, jacobian := make([]float64, n), make([]float64, n), make([]float64, 2*n)
	for i := range x {
		x[i] = float64(i) / 10
		residual := 0.3*math.Sin(x[i]) + sigma*noise.NormFloat64() // observed minus predicted
		z[i] = residual / sigma
		jacobian[i], jacobian[n+i] = 1/sigma, x[i]/sigma // of the intercept and of the slope
	}
	v, err := check.Judge(check.Data{
		Z: z, Jacobian: jacobian, Names: []string{"intercept", "slope"},
		Axes: []check.Axis{{Name: "time", Unit: "s", Values: x}},
	}, check.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.Summary())
	fmt.Println(v.Flags[0].Text)
	fmt.Println(v.Flags[0].Remedy)
	// Output:
	// The model disagrees with the data (reduced chi-square 2.9, expected 0.586 to 1.54): pattern of the residuals.
	// the residuals follow a pattern along time: near time = 0 to 0.4 s the data lie 2.5 standard deviations below the model on average; the pattern explains 62 % of their scatter
	// add the term that is missing or compare another model
}

// Readings finds faults of the data before there is any model: here a detector that saturates at 1.
func ExampleReadings() {
	y := []float64{0.11, 0.35, 0.62, 0.87, 1, 1, 1, 0.93, 0.58, 0.24}
	for _, f := range check.Readings(y) {
		fmt.Println(f.Text)
	}
	// Output: 3 of 10 values equal the largest value, 1, while the others differ from each other, so they look clipped
}
