// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stancsv_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/euryale-dev/euryale/data/stancsv"
)

// A table as CmdStan writes it is read as a chain, and chains are combined into labelled arrays, in which
// the columns theta.1 and theta.2 are one array.
func Example() {
	const table = `# stepsize = 0.5
lp__,divergent__,mu,theta.1,theta.2
-1.5,0,0.1,1,10
-2.5,0,0.3,2,20
-0.5,1,0.5,3,30
`
	chain, err := stancsv.Read(strings.NewReader(table), "chain-1.csv")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(chain.Parameters())
	fmt.Println("mu:", chain.Column("mu"))

	tree, err := stancsv.Tree([]*stancsv.Chain{chain})
	if err != nil {
		log.Fatal(err)
	}
	posterior, err := tree.Group("posterior")
	if err != nil {
		log.Fatal(err)
	}
	theta := posterior.Var("theta")
	fmt.Println("theta:", theta.Shape, theta.Floats())
	// Output:
	// [mu theta.1 theta.2]
	// mu: [0.1 0.3 0.5]
	// theta: [1 3 2] [1 10 2 20 3 30]
}
