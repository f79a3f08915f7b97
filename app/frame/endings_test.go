// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"strings"
	"testing"
)

// A file whose ending is that of no table makes no folder of its name.
func TestEndingsOfOut(t *testing.T) {
	if _, err := (&App{Out: t.TempDir() + "/rv.txt"}).OpenOutputs(); err == nil || !strings.Contains(err.Error(), ".csv, .parquet, .xlsx") {
		t.Error(err)
	}
}
