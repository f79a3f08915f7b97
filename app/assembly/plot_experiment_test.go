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

// Every experiment draws, prints a script that sim assembly runs, and says what is wrong with its numbers.
func TestPlotExperiment(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, kind := range []string{"project", "associate", "merge", "complete"} {
		small := []string{"plot", "experiment", kind, "--n", "300", "--k", "15", "--rounds", "6"}
		if code, _, stderr := apptest.Do(t, append(small, kind+".svg")...); code != exit.OK {
			t.Errorf("%s: exit %d: %s", kind, code, stderr)
		}
		code, script, stderr := apptest.Do(t, append(small, "--script")...)
		if code != exit.OK || os.WriteFile(kind+".yaml", []byte(script), 0o644) != nil {
			t.Fatalf("%s: exit %d: %s", kind, code, stderr)
		}
		if code, _, stderr := apptest.Do(t, "sim", "assembly", kind+".yaml", "--out", kind, "--quiet"); code != exit.OK {
			t.Errorf("%s: exit %d: %s", kind, code, stderr)
		}
	}
	for line, says := range map[string]string{
		"plot experiment mrege": "want project, associate, merge or complete", "plot experiment project --n 900000000": "sim assembly runs scripts of any size",
		"plot experiment project --k 5000": "project.yaml", "plot experiment project --rounds 0": "at least 1", "plot experiment project --show tracks": "--show tracks",
	} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != exit.WrongUsage || !strings.Contains(stderr, says) {
			t.Errorf("%s: exit %d: %s", line, code, stderr)
		}
	}
}
