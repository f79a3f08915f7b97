// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"context"
	"fmt"
	"log"

	"github.com/euryale-dev/euryale/models/expr"
)

// This example fits an exponential approach to a limit, written as a formula, to six points. The
// same document with priors in place of the starts would give a model for sampling.
func Example() {
	p, err := expr.Parse([]byte(`{
		"expr": "limit*(1 - exp(-x/scale))",
		"data": {"x": [1, 2, 4, 8, 16, 32], "y": [1.9, 3.4, 5.4, 8.1, 9.5, 10.1]},
		"start": {"limit": 5, "scale": 2}}`))
	if err != nil {
		log.Fatal(err)
	}
	least, settings, err := p.LeastSquares()
	if err != nil {
		log.Fatal(err)
	}
	r, verdict, err := p.Fit(context.Background(), least, settings)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Status, verdict.OK)
	for i, name := range []string{"limit", "scale"} { // in natural order of the names
		fmt.Printf("%s: %.2f\n", name, r.X[i])
	}
	// Output:
	// converged true
	// limit: 10.03
	// scale: 4.99
}
