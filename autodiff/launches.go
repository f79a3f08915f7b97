// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"

	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/internal/roofline"
)

// Launch is a kernel that a program launches: its name, the blocks of its Grid and the threads of each Block, how often it is launched
// in a row (Times), and its Work, which has the Arrays with their bytes, the Sectors of 32 bytes that warps ask for, and the instructions
// of all threads together (Float32, Float64, Integers, Special, Accesses). Work.Unknown says what is not counted.
type Launch = roofline.Launch

// Launches lists the kernels that a GPU runs for the outputs, with the work of each, and needs no GPU. The settings are those of Compile, with
// the backend [CUDA]; products and transforms are those of our own kernels, and not tuned. Steps that run on the processor
// are not among them.
func Launches(outputs []*Node, s Settings) ([]Launch, error) {
	on, ok := s.Backend.(CUDA)
	if !ok {
		return nil, fmt.Errorf("autodiff: Launches lists kernels of a GPU, but the backend is %T: use CUDA{}", s.Backend)
	}
	p, err := prepared(outputs, s)
	if err != nil {
		return nil, err
	}
	o, err := on.generate(p.settings)
	if err != nil {
		return nil, err
	}
	o.Tune = false
	return cuda.Launches(p.code, o)
}
