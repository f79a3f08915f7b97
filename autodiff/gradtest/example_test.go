// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gradtest_test

import (
	"fmt"
	"log"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
)

// xexp is an operation that package autodiff lacks.
var xexp = ad.Unary{
	Name: "xexp",
	CPU:  func(x float64) float64 { return x * math.Exp(x) },
	CUDA: "x * exp(x)",
	VJP: func(g, y, x *ad.Node) *ad.Node {
		return ad.Mul(g, ad.Mul(ad.Exp(x), ad.Add(x, ad.Scalar(1))))
	},
	Domain: ad.Interval{Lo: -2, Hi: 2},
}.Define()

// checkXExp is what the test of the operation calls. It compares the gradients with differences, and the CUDA text with
// the Go function.
func checkXExp(t *testing.T) {
	gradtest.Op(t, xexp)
	gradtest.HostC(t, []*ad.Op{xexp})
}

// A package that defines an operation of its own tests it with two calls, as checkXExp does, and then uses it like
// any other: here its value and its derivative at 1.
func Example() {
	x := ad.Scalar(1)
	y := xexp.Apply(x)
	values, err := ad.Eval(y, ad.Grad(y, x)[0])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("value %.4f, derivative %.4f\n", values[0].Data(), values[1].Data())
	// Output: value 2.7183, derivative 5.4366
}
