// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

// The folder of a fit is judged by what the fit found: how many models agree with their data, and what is wrong about the others.
func TestDiagnoseOfFits(t *testing.T) {
	bad := apptest.MisfitCSV(t, second)
	t.Chdir(t.TempDir())
	if code, _, stderr := apptest.Do(t, "fit", "g2", bad, "--out", "one", "--quiet"); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if code, out, _ := apptest.Do(t, "diagnose", "one"); code != exit.OK || !strings.Contains(out, "a second decay") || !strings.Contains(out, "bin 1: ") {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, _, stderr := apptest.Do(t, "diagnose", "one", "--strict"); code != exit.Failed || !strings.Contains(stderr, "1 of 1 fits did not converge to a model that agrees") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	_, out, _ := apptest.Do(t, "diagnose", "one", "--json")
	var doc struct {
		Fits []struct {
			Of    string
			Check struct{ OK bool } `json:"model_check"`
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || len(doc.Fits) != 1 || doc.Fits[0].Of != "bin 1" || doc.Fits[0].Check.OK {
		t.Errorf("%v: %s", err, out)
	}
	for text, want := range map[string]string{
		`{"stars": [{"name": "a", "status": "converged", "model_check": {"ok": true, "line": "fine"}}, {"name": "b", "status": "stuck", "model_check": {"ok": true, "line": "good"}}, {"name": "c"}]}`: "1 of 3 fits converged to models that agree with their data.\nb: The fit did not converge (stuck). good\nc: The model was not judged.\n",
		`{"status": "converged", "warnings": ["tau is at its bound"], "model_check": {"ok": true, "line": "It agrees."}}`:                                                                              "It agrees.\n  warning: tau is at its bound\n",
	} {
		dir := filepath.Dir(apptest.Write(t, "fit.json", text))
		if _, out, _ := apptest.Do(t, "diagnose", dir); out != want {
			t.Errorf("%q, want %q", out, want)
		}
	}
	dir := filepath.Dir(apptest.Write(t, "fit.json", "{"))
	if code, _, stderr := apptest.Do(t, "diagnose", dir); code != exit.Data || !strings.Contains(stderr, "fit.json") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
