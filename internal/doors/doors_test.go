// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package doors tests the modules of examples/doors, each of which adds a part to Euryale from outside.
package doors

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/internal/tier"
)

// Every example compiles against this repository, with its command and its tests, which it passes in the slow tier: each is a program with everything in
// it, which takes seconds to link.
// Kernels run on an emulated device if g++ can build it. All modules are one workspace, so that the go command reads everything once.
func TestDoors(t *testing.T) {
	modules, err := filepath.Glob(filepath.Join("..", "..", "examples", "doors", "*", "go.mod"))
	if err != nil || len(modules) < 9 {
		t.Fatalf("%v: %v", modules, err)
	}
	modules = append(modules, filepath.Join("testdata", "faulty", "go.mod")) // parts that panic
	work, compiled, tested := "go 1.26.0\n", []string{"list", "-export", "-test", "-f", "{{with .Error}}{{.}}{{end}}"}, []string{"test", "-vet=off", "-ldflags=-w"}
	for _, m := range modules {
		dir, err := filepath.Abs(filepath.Dir(m))
		if err != nil {
			t.Fatal(err)
		}
		work += fmt.Sprintf("use %q\n", dir)
		compiled, tested = append(compiled, filepath.Dir(m)+"/..."), append(tested, filepath.Dir(m)+"/...")
	}
	file := filepath.Join(t.TempDir(), "go.work")
	if err := os.WriteFile(file, []byte(work), 0o644); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "GOWORK="+file, "GOFLAGS=")
	if _, err := exec.LookPath("g++"); err == nil {
		l := pretend.Shared(t)
		env = append(env, "EURYALE_LIBCUDA="+l.Path, "EURYALE_LIBNVRTC="+l.Path)
	}
	for _, args := range tier.Of([][]string{compiled}, [][]string{compiled, tested}) {
		for i, a := range args {
			if strings.HasPrefix(a, "testdata") {
				args[i] = "./" + a
			}
		}
		cmd := exec.Command("go", args...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil || args[0] == "list" && len(bytes.TrimSpace(out)) > 0 {
			t.Fatalf("go %s: %v: %s", args[0], err, out)
		}
	}
}
