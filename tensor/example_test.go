// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor_test

import (
	"bytes"
	"fmt"

	"github.com/euryale-dev/euryale/tensor"
)

func Example() {
	t, _ := tensor.From([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	column := t.Slice(1, 1, 2, 1) // shares memory
	fmt.Println(column)
	fmt.Println(column.Permute().Dense().Data(), t.Dense().Shape())
	var file bytes.Buffer
	_ = t.WriteNPY(&file)
	back, err := tensor.ReadNPY(&file)
	fmt.Println(back, err)
	// Output:
	// [[2]
	//  [5]] float64[2 1]
	// [2 5] (2, 3)
	// [[1 2 3]
	//  [4 5 6]] float64[2 3] <nil>
}
