// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"github.com/euryale-dev/euryale/cli"
)

// Every command has a page, and every shell its completions.
func TestEveryCommandHasAPage(t *testing.T) {
	dir := t.TempDir()
	root := cli.Command()
	if err := write(dir, root); err != nil {
		t.Fatal(err)
	}
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		if c.IsAvailableCommand() && c.Name() != "help" {
			page := filepath.Join(dir, "man", strings.ReplaceAll(c.CommandPath(), " ", "-")+".1.gz")
			if info, err := os.Stat(page); err != nil || info.Size() < 200 {
				t.Errorf("%s: %v", c.CommandPath(), err)
			}
		}
		for _, sub := range c.Commands() {
			each(sub)
		}
	}
	each(root)
	for _, name := range []string{"euryale.bash", "_euryale", "euryale.fish", "euryale.ps1"} {
		if info, err := os.Stat(filepath.Join(dir, "completions", name)); err != nil || info.Size() < 1000 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The files of a release agree: the newest version of the changelog is that of the citation, and what
// machines read can be read.
func TestFilesOfAReleaseAgree(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	newest := regexp.MustCompile(`(?m)^## (v\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)$`).FindStringSubmatch(read("CHANGELOG.md"))
	if newest == nil {
		t.Fatal("CHANGELOG.md has no version: want a line such as ## v0.1.0 (2026-11-26)")
	}
	var citation struct {
		Version  string `yaml:"version"`
		Released string `yaml:"date-released"`
		License  string `yaml:"license"`
	}
	if err := yaml.Unmarshal([]byte(read("CITATION.cff")), &citation); err != nil {
		t.Fatal(err)
	}
	if "v"+citation.Version != newest[1] || citation.Released != newest[2] || citation.License != "Apache-2.0" {
		t.Errorf("CITATION.cff is of %+v, CHANGELOG.md begins with %v", citation, newest[1:])
	}
	files := []string{".goreleaser.yaml"}
	for _, pattern := range []string{".github/workflows/*.yml", ".github/ISSUE_TEMPLATE/*.yml"} {
		found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		if err != nil || len(found) < 3 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		for _, f := range found {
			name, _ := filepath.Rel(filepath.Join("..", ".."), f)
			files = append(files, filepath.ToSlash(name))
		}
	}
	for _, name := range files {
		var any map[string]any
		if err := yaml.Unmarshal([]byte(read(name)), &any); err != nil || len(any) < 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
