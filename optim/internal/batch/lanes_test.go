// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"fmt"
	"testing"

	"github.com/euryale-dev/euryale/internal/nvrtc"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// NVIDIA's compiler takes the kernels without warnings, for few and for many parameters. The matrices of a lane of nine parameters
// are more than the registers of its thread.
func TestRealCompilerTakesLanes(t *testing.T) {
	for robust, n := range []int{4, 9} {
		head := fmt.Sprintf("#define N %d\n#define M 64\n#define L 4096\n#define S 128\n#define ROBUST %d\n#define BOUNDED %d\n", n, robust, 1-robust)
		nvrtc.TakesWithin(t, map[string]nvrtc.Budget{"fit_step": {Registers: 255, Stack: []int{0, 2560}[robust]}}, rtc.Source{Name: "lanes.cu", Text: head + lanesText})
	}
}
