// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package doors tests the modules of examples/doors, each of which adds a part to Euryale from outside.
package doors

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
)

// Every example builds against this repository and passes its tests. Kernels run on an emulated device if g++ can build it.
func TestDoors(t *testing.T) {
	modules, err := filepath.Glob(filepath.Join("..", "..", "examples", "doors", "*", "go.mod"))
	if err != nil || len(modules) < 8 {
		t.Fatalf("%v: %v", modules, err)
	}
	modules = append(modules, filepath.Join("testdata", "faulty", "go.mod")) // parts that panic
	for _, m := range modules {
		dir := filepath.Dir(m)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			env := os.Environ()
			if _, err := exec.LookPath("g++"); err == nil && filepath.Base(dir) == "kernel" {
				l := pretend.Shared(t)
				env = append(env, "EURYALE_LIBCUDA="+l.Path, "EURYALE_LIBNVRTC="+l.Path)
			}
			for _, verb := range []string{"vet", "test"} { // vet compiles the command in cmd
				cmd := exec.Command("go", verb, "./...")
				cmd.Dir, cmd.Env = dir, env
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("go %s: %v: %s", verb, err, out)
				}
			}
		})
	}
}
