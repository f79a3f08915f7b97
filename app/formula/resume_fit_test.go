// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/runs"
)

// A bootstrap that was killed goes on with the fits that its folder has, to the same bits, and refuses to with other data.
func TestBootstrapsAreResumed(t *testing.T) {
	data := apptest.Write(t, "d.csv", decay("t,signal", ",", 1))
	out := filepath.Join(t.TempDir(), "fit")
	if code, _, stderr := apptest.Do(t, "fit", "curve", data, "a*exp(-t/tau) + c", "--bootstrap", "400", "--sigma", "0.05", "--out", out); code != 0 {
		t.Fatal(stderr)
	}
	type parts struct {
		Names  []string  `json:"names"`
		X      []float64 `json:"x"`
		Failed int       `json:"failed"`
	}
	name := filepath.Join(out, "bootstrap-0.json")
	var whole, again parts
	if err := runs.ReadJSON(name, &whole); err != nil || len(whole.X)+3*whole.Failed != 3*400 {
		t.Fatal(err, len(whole.X))
	}
	if err := runs.WriteJSON(name, parts{whole.Names, whole.X[:3*150], 0}); err != nil {
		t.Fatal(err)
	}
	code, text, stderr := apptest.Do(t, "fit", "curve", "--resume", out)
	if code != 0 || !strings.Contains(stderr, "150 fits of resampled data are there already") || !strings.Contains(text, "bootstrap of 400 resampled cases") {
		t.Fatalf("exit %d: %s%s", code, text, stderr)
	}
	if err := runs.ReadJSON(name, &again); err != nil || !reflect.DeepEqual(whole, again) {
		t.Errorf("other fits after resuming: %v", err)
	}
	if err := os.WriteFile(data, []byte("t,signal\n0,1\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr = apptest.Do(t, "fit", "curve", "--resume", out); code != 65 || !strings.Contains(stderr, "restore it to go on") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
