// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ode_test

import (
	"fmt"
	"log"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/ode"
)

// A population grows logistically, dy/dt = r y (1 - y/K). The solution at three times is a node of a graph, and its last
// value has exact derivatives with respect to the rate r and the capacity K.
func Example() {
	logistic := func(t *ad.Node, y, p []*ad.Node) []*ad.Node {
		free := ad.Sub(ad.Scalar(1), ad.Div(y[0], p[1]))
		return []*ad.Node{ad.Mul(p[0], ad.Mul(y[0], free))}
	}
	start, p := ad.Const([]float64{1}), ad.Const([]float64{0.8, 10})
	y := ode.Solve(logistic, start, 0, []float64{1, 3, 6}, p, ode.Settings{})
	last := ad.Index(y, 0, 2)

	values, err := ad.Eval(y, ad.Grad(last, p)[0])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("population: %.4f\n", values[0].Data())
	fmt.Printf("derivatives of the last by r and K: %.4f\n", values[1].Data())
	// Output:
	// population: [1.9826 5.5052 9.3104]
	// derivatives of the last by r and K: [3.8523 0.8597]
}
