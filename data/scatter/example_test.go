// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/scatter"
)

// A table of three columns without a header, with the photon energy in its name.
func Example() {
	dir, err := os.MkdirTemp("", "scatter")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "film_285.0eV.dat")
	if err := os.WriteFile(name, []byte("0.010 52.1 0.8\n0.011 47.3 0.7\n"), 0o666); err != nil {
		panic(err)
	}
	set, err := scatter.Open(name, scatter.Settings{QUnit: "1/A"})
	if err != nil {
		panic(err)
	}
	fmt.Println(set.Summary())
	c := set.Curves[0]
	fmt.Printf("%g eV: q %.2f 1/nm, I %g +- %g\n", c.Energy, c.Q[0], c.I[0], c.Errors[0])
	// Output:
	// film_285.0eV.dat: I(q) [energy 1, q 2], with errors
	// 285 eV: q 0.10 1/nm, I 52.1 +- 0.8
}
