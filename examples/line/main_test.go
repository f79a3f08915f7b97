// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The README shows this program and what it prints.
func TestReadmeIsTrue(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```go\n")
	code, rest, ok := strings.Cut(rest, "```\n")
	if !ok || !strings.Contains(strings.ReplaceAll(string(source), "\n\t", "\n"), code) {
		t.Errorf("the README's program is not the body of main.go:\n%s", code)
	}
	_, rest, _ = strings.Cut(rest, "```\n")
	printed, _, _ := strings.Cut(rest, "```")
	out, err := exec.Command("go", "run", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	// The last line has the time it took.
	if got, want := rows(string(out)), rows(printed); got != want {
		t.Errorf("the README prints\n%s\nthe program\n%s", want, got)
	}
}

// rows returns the lines of the table, without the one about the run.
func rows(s string) string {
	var out []string
	for _, l := range strings.Split(s, "\n") {
		if !strings.Contains(l, "chains of") && strings.TrimSpace(l) != "" {
			out = append(out, strings.TrimRight(l, " "))
		}
	}
	return strings.Join(out, "\n")
}
