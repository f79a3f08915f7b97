package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/sim/assembly/script"
)

// The README shows what the program prints.
func TestReadmeIsTrue(t *testing.T) {
	if testing.Short() {
		t.Skip("areas of a hundred thousand neurons take seconds")
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```\n")
	want, _, ok := strings.Cut(rest, "```")
	var b bytes.Buffer
	if err := report(&b, t.TempDir(), size{n: 1e5, k: 317, p: 0.01, steps: 100}); err != nil {
		t.Fatal(err)
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

// Every script runs, and its last measures are what they were: the same seed gives the
// same bits.
func TestScripts(t *testing.T) {
	for file, want := range map[string]map[string]float64{
		"project.yaml":    {"support": 1285, "kept": 1},
		"associate.yaml":  {"association": 0.81},
		"merge.yaml":      {"A from C": 0.94, "B from C": 0.94, "C from A": 0.99},
		"complete.yaml":   {"from 0.02": 1, "from 0.1": 1},
		"reciprocal.yaml": {"at once": 0.42, "after ten steps": 0.62},
		"sequence.yaml":   {"item 1": 1, "item 2": 0.9, "item 5": 1},
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
		r, err := s.Run(t.Context(), script.Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		last := map[string]float64{}
		for _, m := range r.Measures {
			last[m.Name] = m.Value
		}
		for name, v := range want {
			if last[name] != v {
				t.Errorf("%s: %s is %g, want %g", file, name, last[name], v)
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
