// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"

	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/internal/roofline"
)

// Launches lists the kernels that a GPU runs for the outputs, with the work of each, and needs no GPU. The settings are those of Compile, with
// the backend [CUDA]; products and transforms are those of our own kernels, and not tuned. Steps that run on the processor
// are not among them.
func Launches(outputs []*Node, s Settings) ([]roofline.Launch, error) {
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
