// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package golden

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The tests pass with a set of other names and fewer members.
func TestAnotherSet(t *testing.T) {
	for name, set := range map[string]struct {
		changes []another
		without string
		only    string // a part of the names of the packages that read what is changed
	}{
		"names": {others, "", ""},
		"arms":  {arms, "spectra/desi", "spe"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			plant(t, dir, set.changes, set.without)
			for _, pkg := range readers(t) {
				if !strings.Contains(pkg, set.only) {
					continue
				}
				t.Run(pkg, func(t *testing.T) {
					cmd := exec.Command("go", "test", "-count=1", "-timeout=20m", "./"+pkg)
					cmd.Dir, cmd.Env = moduleRoot(t), append(os.Environ(), "EURYALE_REFERENCE="+dir, "EURYALE_REQUIRE_REFERENCE=")
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Errorf("%v\n%.6000s", err, out)
					}
				})
			}
		})
	}
}

// readers lists the packages whose tests read the reference.
func readers(t *testing.T) (packages []string) {
	top := moduleRoot(t)
	for _, f := range testFiles(t) {
		if pkg := filepath.ToSlash(filepath.Dir(f.name)); f.reads && pkg != "internal/golden" && !slices.Contains(packages, pkg) {
			packages = append(packages, pkg)
		}
	}
	if len(packages) < 20 {
		t.Fatalf("%d packages below %s read the reference", len(packages), top)
	}
	return packages
}
