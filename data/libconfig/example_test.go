// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package libconfig_test

import (
	"fmt"

	"github.com/euryale-dev/euryale/data/libconfig"
)

func Example() {
	root, err := libconfig.Parse([]byte("CaseType = 1; # divergent\nbeams : ({ k = [0.0, 0.1, 1.0]; });"), "config.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	k, _ := root.Lookup("beams.[0].k")
	x, _ := k.Float64s()
	fmt.Println(x, "line", k.Line)
	_, err = root.Lookup("Casetype")
	fmt.Println(err)
	// Output:
	// [0 0.1 1] line 2
	// libconfig: config.txt: there is no setting Casetype: is it CaseType?
}
