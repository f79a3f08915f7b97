// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"testing"

	"github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
)

func TestHalfSegment(t *testing.T) {
	gradtest.Op(t, halfSegment)
	gradtest.HostC(t, []*autodiff.Op{halfSegment})
}
