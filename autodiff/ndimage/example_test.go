// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ndimage_test

import (
	"fmt"
	"log"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/ndimage"
)

// A single bright pixel is smoothed and the picture is halved. The gradient of the sum of squares says how each pixel of
// the first picture acts on it.
func Example() {
	pixels := make([]float64, 6*6)
	pixels[2*6+3] = 100
	image := ad.Const(pixels, 6, 6)
	smooth := ndimage.Gaussian(image, ndimage.GaussianSettings{Sigma: []float64{1}, Mode: ndimage.Nearest})
	half := ndimage.Zoom(smooth, ndimage.ZoomSettings{Factor: []float64{0.5}, Order: 1})
	loss := ad.Sum(ad.Square(half))

	values, err := ad.Eval(half, ad.Grad(loss, image)[0])
	if err != nil {
		log.Fatal(err)
	}
	small, gradient := values[0].Data().([]float64), values[1].Data().([]float64)
	for row := range 3 {
		fmt.Printf("%6.3f\n", small[3*row:3*row+3])
	}
	fmt.Printf("gradient at the bright pixel: %.3f\n", gradient[2*6+3])
	// Output:
	// [ 0.024  1.730  0.292]
	// [ 0.142 10.269  1.730]
	// [ 0.002  0.142  0.024]
	// gradient at the bright pixel: 2.231
}

// The median of a box removes a single wild number and keeps the step, which a mean would smear.
func ExampleMedian() {
	x := ad.Const([]float64{1, 1, 99, 1, 5, 5, 5})
	values, err := ad.Eval(ndimage.Median(x, ndimage.BoxSettings{Size: []int{3}}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(values[0].Data())
	// Output: [1 1 1 5 5 5 5]
}
