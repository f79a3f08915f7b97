// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package torch_test

import (
	"bytes"
	"fmt"

	"github.com/euryale-dev/euryale/data/torch"
)

// Weights are written as torch.save does, and read back.
func Example() {
	w, err := torch.NewTensor([]int{2, 2}, []float32{1, 2, 3, 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	state := &torch.Dict{Ordered: true}
	state.Set("linear.weight", w)
	var file bytes.Buffer
	if err := torch.Write(&file, state); err != nil {
		fmt.Println(err)
		return
	}

	root, err := torch.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := root.(*torch.Dict).Tensor("linear.weight")
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := again.Float32s()
	fmt.Println(again.Type(), again.Shape(), v, err)
	_, err = root.(*torch.Dict).Tensor("linear.wieght")
	fmt.Println(err)
	// Output:
	// float32 [2 2] [1 2 3 4] <nil>
	// torch: there is no linear.wieght: nearest are linear.weight
}
