// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"testing"

	"github.com/euryale-dev/euryale/internal/nvrtc"
)

// NVIDIA's compiler takes the kernels of correlations without warnings.
func TestRealCompilerTakesCorrelations(t *testing.T) {
	nvrtc.Takes(t, source(32, 1), source(32, 4), source(64, 1), source(64, 4))
}
