// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package interp_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/euryale-dev/euryale/tensor/interp"
)

// A monotone curve goes through a calibration table, with its slope and its integral. A point outside the table is an
// error unless the settings allow it.
func Example() {
	f, err := interp.PCHIP([]float64{0, 1, 2, 4}, []float64{0, 1, 1, 3})
	if err != nil {
		log.Fatal(err)
	}
	y, err := f.At([]float64{0.5, 1.5, 3})
	if err != nil {
		log.Fatal(err)
	}
	slope, err := f.Derivative([]float64{0.5, 1.5, 3}, 1)
	if err != nil {
		log.Fatal(err)
	}
	area, err := f.Integral(0, 4)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n%.4f\n%.4f\n", y, slope, area)

	strict, err := interp.New([]float64{0, 1}, []float64{5, 7}, interp.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	_, err = strict.At([]float64{1.5})
	var outside *interp.RangeError
	if errors.As(err, &outside) {
		fmt.Println(outside.At, "lies outside", outside.Lo, "to", outside.Hi)
	}
	// Output:
	// [0.6875 1.0000 1.5833]
	// [1.1250 0.0000 1.0833]
	// [5.0694]
	// 1.5 lies outside 0 to 1
}

// A grid interpolates a table of two variables, here the values x + 10 y.
func ExampleNewGrid() {
	g, err := interp.NewGrid([][]float64{{0, 1, 2}, {0, 1}}, []float64{0, 10, 1, 11, 2, 12}, interp.GridSettings{})
	if err != nil {
		log.Fatal(err)
	}
	v, err := g.At([]float64{0.5, 2}, []float64{0.5, 0.25}) // the points (0.5, 0.5) and (2, 0.25)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v)
	// Output: [5.5 4.5]
}
