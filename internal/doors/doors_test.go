// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package doors tests the examples of what a package of one's own can add, which are modules of their own.
package doors

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// Every example builds against this repository and passes its tests.
func TestDoors(t *testing.T) {
	modules, err := filepath.Glob(filepath.Join("..", "..", "examples", "doors", "*", "go.mod"))
	if err != nil || len(modules) < 7 {
		t.Fatalf("%v: %v", modules, err)
	}
	for _, m := range modules {
		dir := filepath.Dir(m)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			for _, verb := range []string{"vet", "test"} { // vet compiles the command in cmd
				cmd := exec.Command("go", verb, "./...")
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("go %s: %v: %s", verb, err, out)
				}
			}
		})
	}
}
