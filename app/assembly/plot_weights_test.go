// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly_test

import (
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

// The weights of a run are drawn, with one picture for each fibre between areas.
func TestPlotWeights(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "p: 0.1\nstimuli: {tone: 40}\nareas: {A: {n: 400, k: 20}, B: {n: 300, k: 15}}\nrun:\n  - {form: A, stimulus: tone, steps: 5}\n  - {project: [A>B], steps: 3}\n"
	if err := os.WriteFile("s.yaml", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"sim", "assembly", "s.yaml", "--out", "run", "--quiet"}, exit.OK, ""},
		{[]string{"plot", "weights", "run", "all.svg"}, exit.OK, ""},
		{[]string{"plot", "weights", "run", "one.svg", "--var", "A>B"}, exit.OK, ""},
		{[]string{"plot", "weights", "run", "--var", "B>A"}, exit.WrongUsage, "--var accepts A>A, A>B"},
		{[]string{"plot", "weights", "none"}, exit.NoInput, "none"},
	} {
		if code, _, stderr := apptest.Do(t, c.args...); code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: exit %d: %s", c.args, code, stderr)
		}
	}
	all, err := os.ReadFile("all.svg")
	one, err2 := os.ReadFile("one.svg")
	if err != nil || err2 != nil || !strings.Contains(string(all), "A to A") || !strings.Contains(string(one), "A to B") || strings.Contains(string(one), "A to A") {
		t.Errorf("the pictures are not those of the fibres: %v, %v", err, err2)
	}
}
