// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gp_test

import (
	"fmt"
	"log"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/gp"
)

// A smooth process is observed at five points with a little noise. Condition gives its mean and variance between the
// points, where it is well known, and beyond them, where it is not.
func Example() {
	x, y := []float64{0, 1, 2, 3, 4}, []float64{0.1, 0.8, 0.9, 0.1, -0.8}
	k := gp.SquaredExponential(1, 1.2) // standard deviation and length scale
	p := gp.Condition(k, x, y, nil, 0.01, []float64{1.5, 8})

	logLikelihood := gp.Marginal(k, x, nil, 0.01).LogProb(ad.Const(y))
	values, err := ad.Eval(p.Mean, p.Var, logLikelihood)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mean %.3f\n", values[0].Data())
	fmt.Printf("variance %.3f\n", values[1].Data())
	fmt.Printf("log likelihood %.3f\n", values[2].Data())
	// Output:
	// mean [0.966 -0.005]
	// variance [0.009 1.000]
	// log likelihood -3.822
}
