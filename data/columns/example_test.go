// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package columns_test

import (
	"fmt"

	"github.com/euryale-dev/euryale/data/columns"
)

// Decimal commas, units and texts are understood.
func Example() {
	t, note, err := columns.Read([]byte("Zeit (s);Probe\n0,5;A\n1,5;B\n"))
	if err != nil {
		fmt.Println(err)
	}
	for _, c := range t {
		fmt.Println(c.Name, c.Unit, c.Values)
	}
	fmt.Println(note)
	// Output:
	// Zeit s [0.5 1.5]
	// Probe  [A B]
	// numbers have decimal commas
}
