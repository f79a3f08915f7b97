// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/rsoxs"
	"github.com/euryale-dev/euryale/internal/tier"
)

// A closed form fits counts without a grid, and its run folder has what that of voxels has.
func TestInvertMeasuredInClosedForm(t *testing.T) {
	tier.SlowOnly(t)
	name, problem := measuredProblem(t)
	delete(problem, "grid")
	problem["options"] = map[string]any{"matrix": true, "width": 1.2, "closed": true}
	b, err := json.Marshal(problem)
	if err == nil {
		err = os.WriteFile(name, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := apptest.Do(t, "invert", "rsoxs", name, "--out", out, "--json", "--quiet")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var doc rsoxs.MeasuredDoc
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"radius", "shell", "aligned", "centre_x", "centre_y"} {
		// The box of voxels that made the counts cuts the tails of the shell off.
		if x := float64(doc.X[name]); !(math.Abs(x-ballOf[name]) < 0.1*math.Abs(ballOf[name])) {
			t.Errorf("%s is %g, want %g", name, x, ballOf[name])
		}
	}
	for _, file := range []string{"fit.json", "report.html", "plots/patterns.svg"} {
		if _, err := os.Stat(filepath.Join(out, file)); err != nil {
			t.Error(err)
		}
	}
}
