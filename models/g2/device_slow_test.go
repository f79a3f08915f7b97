// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package g2_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// A hundred thousand fits on a device are those of the processor.
func TestHundredThousandFitsOnDevice(t *testing.T) {
	pretend.Shared(t)
	fitsOnDevice(t, 100_000, ad.CUDA{})
}
