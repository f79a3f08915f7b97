// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package safetensors_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/euryale-dev/euryale/data/safetensors"
	"github.com/euryale-dev/euryale/tensor"
)

// The weights of a layer are written together with a note, and read back.
func Example() {
	weight, err := tensor.From([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		log.Fatal(err)
	}
	bias, err := tensor.From([]float32{0.5, -0.5}, 2)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	layer := map[string]*tensor.Tensor{"layer.weight": weight, "layer.bias": bias}
	if err := safetensors.Write(&file, layer, map[string]string{"trained on": "simulated spectra"}); err != nil {
		log.Fatal(err)
	}

	arrays, notes, err := safetensors.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	w := arrays["layer.weight"]
	fmt.Println(w.DType(), w.Shape(), w.Float64s())
	fmt.Println("trained on", notes["trained on"])
	// Output:
	// float32 [2 3] [1 2 3 4 5 6]
	// trained on simulated spectra
}
