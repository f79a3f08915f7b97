// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"io"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// ReadInput reads a file, or standard input for "-".
func ReadInput(path string) ([]byte, error) {
	if path == "-" {
		b, err := io.ReadAll(os.Stdin)
		return b, exit.Input(err)
	}
	b, err := foreign.ReadFile(path, ".yaml", ".yml", ".json")
	return b, exit.Input(err)
}

// Absolute returns the absolute path of a file; "-" stays unchanged.
func Absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil && name != "-" {
		return abs
	}
	return name
}
