// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula_test

import (
	"fmt"
	"log"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
)

// A formula that a user typed becomes a graph, which has exact derivatives: here the value of a saturating growth at
// two points, and the derivative of their sum with respect to the rate.
func Example() {
	f, err := formula.Parse("top*(1-exp(-rate*x))")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Names())

	top, rate := ad.Scalar(10), ad.Scalar(0.5)
	y, err := f.Node(map[string]*ad.Node{"top": top, "rate": rate, "x": ad.Const([]float64{1, 2})})
	if err != nil {
		log.Fatal(err)
	}
	values, err := ad.Eval(y, ad.Grad(y, rate)[0])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f %.3f\n", values[0].Data(), values[1].Data())

	_, err = formula.Parse("top*(1-exp(-rate*x)")
	fmt.Println(err)
	// Output:
	// [top rate x]
	// [3.935 6.321] 13.423
	// formula: a parenthesis is not closed: add a ) at position 20 of "top*(1-exp(-rate*x)"
}

// A spectrum is a sum of parts, whose parameters get their names from prefixes.
func ExampleFormula_Parts() {
	f, err := formula.Parse("gaussian(e, p1_) + voigt(e, p2_) + linear(e, bg_)")
	if err != nil {
		log.Fatal(err)
	}
	for _, part := range f.Parts() {
		fmt.Println(part.Name, part.Prefix, part.Params)
	}
	// Output:
	// gaussian p1_ [amplitude center sigma]
	// voigt p2_ [amplitude center sigma gamma]
	// linear bg_ [intercept slope]
}
