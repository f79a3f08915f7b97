// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package partition

import (
	"testing"

	"github.com/euryale-dev/euryale/internal/nvrtc"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// NVIDIA's compiler takes the kernels of partitions without warnings.
func TestRealCompilerTakesPartitions(t *testing.T) {
	nvrtc.Takes(t, rtc.Source{Name: "partition.cu", Text: kernelText})
}
