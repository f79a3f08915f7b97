// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// readInput reads a file, or standard input for "-".
func readInput(path string) ([]byte, error) {
	if path == "-" {
		b, err := io.ReadAll(os.Stdin)
		return b, input(err)
	}
	b, err := foreign.ReadFile(path)
	return b, input(err)
}

// absolute returns the absolute path of a file; "-" stays unchanged.
func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil && name != "-" {
		return abs
	}
	return name
}
