// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "fmt"

// Numbers computes Nodes that depend only on constants: the elements of each, row by row, and one for a scalar.
// It compiles at each call, so for repeated work use Compile.
func Numbers(nodes ...*Node) ([][]float64, error) {
	p, err := Compile(nodes, Settings{Backend: CPU{Threads: 1}})
	if err != nil {
		return nil, err
	}
	if in := p.Inputs(); len(in) > 0 {
		return nil, fmt.Errorf("autodiff: eval: %v has no value: use Compile and State.Input", in[0])
	}
	s := p.NewState()
	if err := s.Run(); err != nil {
		return nil, err
	}
	out := make([][]float64, len(nodes))
	for i := range nodes {
		out[i] = s.OutputFloat64(i)
	}
	return out, nil
}
