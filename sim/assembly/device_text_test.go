// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"testing"

	"github.com/euryale-dev/euryale/internal/nvrtc"
)

// NVIDIA's compiler takes the kernels for weights of either precision without a warning.
func TestRealCompilerTakesKernels(t *testing.T) {
	nvrtc.Takes(t, deviceSource(false), deviceSource(true))
}
