// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package golden

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// The tests pass with a set of other names and fewer members.
func TestAnotherSet(t *testing.T) {
	for name, set := range map[string]struct {
		changes []another
		without string
		only    string   // an expression for the packages that read what is changed
		short   []string // folders whose lists of cases are shorter
	}{
		"names": {others, "", "", nil},
		"arms":  {arms, "spectra/desi", "spectra|rvspecfit|survey|torch|delaunay", nil},
		"sizes": {nil, "", "", sizes},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			plant(t, dir, set.changes, set.without, set.short...)
			ours := ourSet(t, set.changes)
			err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
				if err == nil && ours.files[d.Name()] {
					t.Errorf("%s has its name still", name)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, pkg := range readers(t) {
				if !regexp.MustCompile(set.only).MatchString(pkg) {
					continue
				}
				t.Run(pkg, func(t *testing.T) {
					cmd := exec.Command("go", "test", "-count=1", "-timeout=20m", "./"+pkg)
					cmd.Dir, cmd.Env = moduleRoot(t), append(os.Environ(), "EURYALE_REFERENCE="+dir)
					if set.without != "" { // what is left out may be missing
						cmd.Env = append(cmd.Env, "EURYALE_REQUIRE_REFERENCE=")
					}
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
	for _, f := range readingFiles(t) {
		if pkg := path.Dir(f.name); !slices.Contains(packages, pkg) {
			packages = append(packages, pkg)
		}
	}
	if len(packages) < 20 {
		t.Fatalf("only the packages %v read the reference", packages)
	}
	return packages
}
