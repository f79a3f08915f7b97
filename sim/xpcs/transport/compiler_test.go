// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"testing"

	"github.com/euryale-dev/euryale/internal/nvrtc"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// NVIDIA's compiler takes the kernels of every model without warnings. Gradients and curvatures keep their sums in registers, so that a
// multiprocessor holds four of their blocks of 64 threads; the memory is that of sines of large numbers.
func TestRealCompilerTakesPairs(t *testing.T) {
	var all []rtc.Source
	for _, m := range []Model{Static, Laminar, TwoComponent} {
		for _, customary := range []bool{false, true} {
			s := shearSetup(1, 3)
			s.Model, s.Customary = m, customary
			text := s.pairText()
			for number, weighted := range map[string]bool{"double": false, "float": true} {
				all = append(all, rtc.Source{Name: "pairs.cu", Text: text.text(s.frameOutputs(), number, weighted)})
			}
		}
	}
	nvrtc.TakesWithin(t, map[string]nvrtc.Budget{"gradient": {Registers: 232, Stack: 40}, "curvature": {Registers: 200, Stack: 72}}, all...)
}
