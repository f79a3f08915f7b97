// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package basic

import (
	"embed"
	"strings"
)

//go:embed ptx
var ptxFiles embed.FS

// ptx returns the PTX of a program of the set, nil if there is none.
func ptx(name string) []byte {
	b, err := ptxFiles.ReadFile("ptx/" + strings.TrimSuffix(name, ".cu") + ".ptx")
	if err != nil {
		return nil
	}
	return b
}
