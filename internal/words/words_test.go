// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

var update = flag.Bool("update", false, "write docs/ERRORS.md anew")

func all(t *testing.T) []source {
	t.Helper()
	list, err := sources(root, ".")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 1000 {
		t.Fatalf("%d files of Go: they are not found any more", len(list))
	}
	return list
}

// A comment of an exported name says what the thing is to a reader who sees nothing else.
func TestCommentsAreNoFragments(t *testing.T) {
	n := 0
	for _, s := range all(t) {
		if !s.public() {
			continue
		}
		for _, c := range s.comments() {
			n++
			if why := c.fragment(); why != "" {
				t.Errorf("%s:%d: the comment of %s %s: %s", c.file, c.line, c.name, why, c.text)
			}
		}
	}
	if n < 5000 {
		t.Errorf("%d comments of exported names: they are not found any more", n)
	}
}

// docs/ERRORS.md lists every error text. Whoever changes one reads it there once more, among its
// neighbours.
func TestListOfErrors(t *testing.T) {
	want := page(all(t))
	name := filepath.Join(root, "docs", "ERRORS.md")
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		a, b := strings.Split(string(got), "\n"), strings.Split(want, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("docs/ERRORS.md is not up to date from line %d:\n  it has  %s\n  want    %s\nrun: go test ./internal/words -update", i+1, a[i], b[i])
			}
		}
		t.Fatal("docs/ERRORS.md is not up to date at its end: run: go test ./internal/words -update")
	}
}

func TestScores(t *testing.T) {
	for text, want := range map[string]string{
		"rsoxs: volume fractions sum to %g at voxel %v: want 1 within %g; see Morphology.Normalize": "WPNR",
		"validation failed": "W---",
		"the mask keeps no pixel, so that no bin would have any: undo a step": "W--R",
		"csv: line %d has %d values":                                          "WPN-",
		"%w: no kernel":                                                       "WP--",
	} {
		if got := scoreOf(text, false).String(); got != want {
			t.Errorf("%q scores %s: want %s", text, got, want)
		}
	}
}

func TestFragments(t *testing.T) {
	for text, want := range map[string]bool{
		"of the shard":          true,
		"km/s":                  true,
		"whether to stop":       true,
		"lengths of the axes":   false,
		"Shape holds the axes.": false,
		"path; \"\" for none":   true,
	} {
		if got := (comment{kind: "field", name: "T.Shape", text: text}).fragment() != ""; got != want {
			t.Errorf("%q is a fragment: %v, want %v", text, got, want)
		}
	}
}

// page is docs/ERRORS.md.
func page(list []source) string {
	counts := map[string]int{}
	folders := map[string][]errorText{}
	total := 0
	for _, s := range list {
		if strings.HasPrefix(s.path, "internal/words/") {
			continue
		}
		for _, e := range s.errors() {
			folders[e.folder] = append(folders[e.folder], e)
			total++
			for _, letter := range e.score.String() {
				counts[string(letter)]++
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# Error texts

Every error text in the code, by package, with what the text answers by itself: what is wrong (W), where (P),
with which numbers (N), and what to try (R). An error inside a package is often wrapped by its caller, which
knows the file, the line or the argument, so not every text needs all four. `+"`%%`"+` stands for what is filled in.

This page is generated: %s. Of %d texts, %d say what is wrong, %d where, %d with which
numbers, and %d what to try.
`, "`go test ./internal/words -update`", total, counts["W"], counts["P"], counts["N"], counts["R"])
	names := make([]string, 0, len(folders))
	for f := range folders {
		names = append(names, f)
	}
	slices.Sort(names)
	for _, f := range names {
		fmt.Fprintf(&b, "\n## %s\n\n", f)
		texts := map[string]bool{}
		for _, e := range folders[f] {
			line := fmt.Sprintf("- %s `%s`\n", e.score, strings.ReplaceAll(e.text, "`", "'"))
			if !texts[line] {
				texts[line] = true
				b.WriteString(line)
			}
		}
	}
	return b.String()
}
