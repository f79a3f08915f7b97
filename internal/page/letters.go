// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Modules that link typefaces which no picture has, five megabytes of them.
const (
	liberation = "codeberg.org/go-fonts/liberation"
	images     = "golang.org/x/image"
)

// withoutLetters fills a folder with a go.mod by which the program has the typefaces of its pictures only, Liberation Sans regular and bold, and
// returns its name. The others are those under other names.
func withoutLetters(dir string) (string, error) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return "", err
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		return "", err
	}
	for _, m := range []string{liberation, images} {
		own := filepath.Join(dir, filepath.Base(m))
		from, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", m).Output()
		if err != nil {
			return "", fmt.Errorf("go list -m %s: %w", m, err)
		}
		if err := os.CopyFS(own, os.DirFS(strings.TrimSpace(string(from)))); err != nil {
			return "", err
		}
		mod = fmt.Appendf(mod, "\nreplace %s => %s\n", m, own)
	}
	for _, in := range []string{"liberation/liberation*", "image/font/gofont/go*"} {
		faces, err := filepath.Glob(filepath.Join(dir, in, "data.go"))
		if err != nil {
			return "", err
		}
		for _, name := range faces {
			if err := sameAs(name); err != nil {
				return "", err
			}
		}
	}
	name := filepath.Join(dir, "page.mod")
	if err := os.WriteFile(name, mod, 0o644); err != nil {
		return "", err
	}
	return name, os.WriteFile(filepath.Join(dir, "page.sum"), sum, 0o644)
}

// sameAs makes the package of a typeface, whose file is given, that of Liberation Sans under its name.
func sameAs(file string) error {
	face, same := filepath.Base(filepath.Dir(file)), "liberationsansregular"
	if strings.Contains(face, "bold") {
		same = "liberationsansbold"
	}
	if face == same {
		return nil
	}
	text := fmt.Sprintf("package %s\n\nimport %q\n\nvar TTF = %s.TTF\n", face, liberation+"/"+same, same)
	return os.WriteFile(file, []byte(text), 0o644)
}
