// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"strings"
	"testing"
)

// Units say that pixels were added up.
func TestUnitsOfBinnedPixels(t *testing.T) {
	one, four := &Task{}, &Task{bin: 4}
	if got := []string{one.binned("pixels"), four.binned("pixels"), four.binned("counts/s"), four.binned("nm")}; strings.Join(got, ", ") != "pixels, pixels of 4 x 4, counts/s in 4 x 4 pixels, nm" {
		t.Error(got)
	}
}
