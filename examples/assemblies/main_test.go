// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/sim/assembly/script"
)

var update = flag.Bool("update", false, "rewrite what the README prints, and its pictures")

// The README shows what the program prints.
func TestReadmeIsTrue(t *testing.T) {
	if testing.Short() {
		t.Skip("areas of a hundred thousand neurons take seconds")
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(readme), "```\n")
	want, after, ok := strings.Cut(rest, "```")
	var b bytes.Buffer
	dir := t.TempDir()
	if *update {
		dir = "."
	}
	if err := report(&b, dir, size{n: 1e5, k: 317, p: 0.01, steps: 100}); err != nil {
		t.Fatal(err)
	}
	if *update {
		want = b.String()
		if err := os.WriteFile("README.md", []byte(before+"```\n"+want+"```"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.String(); !ok || got != want {
		t.Errorf("the README prints\n%s\nthe program\n%s", want, got)
	}
}

// The figures come in small, too, and have something in them.
func TestSmall(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	if err := report(&b, dir, size{n: 2000, k: 50, p: 0.05, steps: 20}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"support", "association", "completion", "merge"} {
		if st, err := os.Stat(filepath.Join(dir, name+".png")); err != nil || st.Size() < 5000 {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(b.String(), name+"\n") {
			t.Errorf("%s is not in the report", name)
		}
	}
}

// Every script runs, and its last measures tell its story: the values are of its seed,
// with what another seed may change by.
func TestScripts(t *testing.T) {
	for file, want := range map[string]map[string][2]float64{
		"project.yaml":    {"support": {1150, 250}, "kept": {1, 0.02}},
		"associate.yaml":  {"association": {0.81, 0.15}},
		"merge.yaml":      {"A from C": {0.94, 0.15}, "B from C": {0.94, 0.15}, "C from A": {0.99, 0.15}},
		"complete.yaml":   {"from 0.02": {1, 0.2}, "from 0.1": {1, 0.02}},
		"reciprocal.yaml": {"at once": {0.52, 0.2}, "after ten steps": {0.82, 0.25}},
		"sequence.yaml":   {"item 1": {1, 0}, "item 2": {0.9, 0.2}, "item 5": {1, 0.25}},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := script.Parse(file, text)
		if err != nil {
			t.Error(err)
			continue
		}
		r, err := s.Run(t.Context(), script.Settings{})
		if err != nil {
			t.Error(err)
			continue
		}
		last := map[string]float64{}
		for _, m := range r.Measures {
			last[m.Name] = m.Value
		}
		for name, v := range want {
			if math.Abs(last[name]-v[0]) > v[1] {
				t.Errorf("%s: %s is %g, want %g within %g", file, name, last[name], v[0], v[1])
			}
		}
	}
}

// There are no other scripts.
func TestAllScriptsAreTested(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) != 6 {
		t.Errorf("%v: %v", files, err)
	}
}
