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

// ReadInput reads a file, or standard input for "-". Where a folder is named, the error lists its files with one of the endings, by default those of
// documents.
func ReadInput(path string, endings ...string) ([]byte, error) {
	if path == "-" {
		b, err := io.ReadAll(os.Stdin)
		return b, exit.Input(err)
	}
	if len(endings) == 0 {
		endings = []string{".yaml", ".yml", ".json"}
	}
	b, err := foreign.ReadFile(path, endings...)
	return b, exit.Input(err)
}

// Absolute returns the absolute path of a file; "-" stays unchanged.
func Absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil && name != "-" {
		return abs
	}
	return name
}
