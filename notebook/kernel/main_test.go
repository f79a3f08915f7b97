// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// A folder is no place for the kernel's file.
func TestOutputIsNoFolder(t *testing.T) {
	if err := run(t.TempDir(), "", false); err == nil || !strings.Contains(err.Error(), "is a folder: name the file") {
		t.Error(err)
	}
}
