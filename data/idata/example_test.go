// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package idata_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/euryale-dev/euryale/data/idata"
)

// Draws that another program wrote as JSON are read as labelled arrays. The first two axes of a posterior
// are the chain and the draw. The infinite log-likelihood is the bare word that Python writes.
func Example() {
	const run = `{
		"posterior": {"mu": [[0.5, 1.0, 1.5], [2.0, 2.5, 3.0]]},
		"log_likelihood": {"y": [[-1.0, -2.0, -Infinity], [-1.5, -2.5, -3.5]]}
	}`
	tree, err := idata.Read(strings.NewReader(run), "run.json")
	if err != nil {
		log.Fatal(err)
	}
	posterior, err := tree.Group("posterior")
	if err != nil {
		log.Fatal(err)
	}
	mu := posterior.Var("mu")
	fmt.Println(mu.Dims, mu.Shape, mu.Floats())

	if err := idata.Encode(os.Stdout, tree, idata.Settings{Strict: true}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// [chain draw] [2 3] [0.5 1 1.5 2 2.5 3]
	// {"posterior": {"mu": [[0.5,1.0,1.5],[2.0,2.5,3.0]]},
	//  "log_likelihood": {"y": [[-1.0,-2.0,"-Infinity"],[-1.5,-2.5,-3.5]]}}
}
