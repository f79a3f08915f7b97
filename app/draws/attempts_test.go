// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
)

// A posterior with two modes that no chain crosses between never passes, whatever the chains of the last attempt have
// in common.
func TestTwoModesNeverPass(t *testing.T) {
	problem := apptest.Write(t, "two.json", `{"expr": "a^2", "data": {"y": [9.02, 8.97, 9.05], "s": [0.1, 0.1, 0.1]}, "y": "y", "sigma": "s",
		"priors": {"a": "normal(0.1, 1)"}}`)
	alone := 0
	for seed := range 6 {
		_, out, stderr := apptest.Do(t, "sample", "expr", "--problem", problem, "--out", filepath.Join(t.TempDir(), "r"), "--json", "--quiet", "--no-report",
			"--warmup", "100", "--draws", "100", "--seed", fmt.Sprint(seed))
		var doc struct {
			Summary     map[string]struct{ Q05, Q95 float64 }
			Diagnostics struct {
				OK     bool
				Advice []string
			}
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		if doc.Diagnostics.OK {
			t.Errorf("seed %d: the run passes with %+v", seed, doc.Summary["a"])
		}
		if a := doc.Summary["a"]; a.Q05*a.Q95 > 0 {
			if alone++; !strings.Contains(strings.Join(doc.Diagnostics.Advice, "\n"), "a mode at a =") {
				t.Errorf("seed %d: all chains are in one mode, and the advice is %q", seed, doc.Diagnostics.Advice)
			}
		}
	}
	t.Logf("%d runs of 6 ended in one mode", alone)
}
