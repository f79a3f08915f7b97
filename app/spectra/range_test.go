// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"strings"
	"testing"
)

// A range in the wrong order is told with the right one.
func TestRangeInTheWrongOrder(t *testing.T) {
	if _, err := wavelengths("mask-range", "5300:5200"); err == nil || !strings.Contains(err.Error(), "write 5200:5300") {
		t.Error(err)
	}
}
