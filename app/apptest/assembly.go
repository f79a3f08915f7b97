// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package apptest

import (
	"os"
	"testing"
)

// ScriptFile makes a folder with a script the working directory.
func ScriptFile(t *testing.T, text string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("s.yaml", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const AssemblyScript = `
p: 0.05
seed: 4
stimuli: {S: 50}
areas: {A: {n: 2000, k: 50}}
winners: [A]
run:
  - {form: A, stimulus: S, steps: 30}
  - {remember: formed, area: A}
  - save: formed
  - repeat: 5
    steps: [{branch: [{complete: A, part: 0.5, as: half}]}, {project: S>A A>A, steps: 2}]
  - {measure: still, overlap: [A, formed]}
`

const TinyClasses = `{"stimuli": [{"name": "S", "n": 30}], "areas": [{"name": "A", "n": 60, "k": 6}],
 "fibres": [{"from": "S", "to": "A", "p": 0.3}], "steps": 1, "seed": 1, "updates": 40, "batch": 8,
 "task": {"classes": 2, "active": 15, "on": 0.6, "off": 0.05, "train": 40, "test": 60}}`
