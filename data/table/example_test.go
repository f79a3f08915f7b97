// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package table_test

import (
	"fmt"
	"os"

	"github.com/euryale-dev/euryale/data/table"
)

// Headers hold the units, in every format.
func Example() {
	var t table.Table
	t.Add("bin", "", []int64{1, 2})
	t.Add("tau", "s", []float64{0.11, 0.053})
	t.Add("model", "", []string{"agrees", "misfit"})
	if err := t.Write(os.Stdout, ".csv"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// bin,tau (s),model
	// 1,0.11,agrees
	// 2,0.053,misfit
}
