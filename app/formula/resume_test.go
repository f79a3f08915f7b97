// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
)

// A run of a table that is resumed says that the file has changed since, and goes on with the content that it began with.
func TestResumedRunsNameFilesThatChanged(t *testing.T) {
	table := apptest.Write(t, "d.csv", "x,y\n0,1.1\n1,2.9\n2,5.2\n3,7.1\n4,8.8\n5,11.3\n")
	out := filepath.Join(t.TempDir(), "run")
	code, _, stderr := apptest.Do(t, "sample", "curve", table, "a + b*x", "--out", out, "--warmup", "100", "--draws", "100", "--chains", "1", "--no-report", "--retries", "0")
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, content := range []string{"", "x,y\n0,1.2\n"} {
		if content != "" {
			if err := os.WriteFile(table, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		code, _, stderr = apptest.Do(t, "sample", "curve", "--resume", out)
		if told := strings.Contains(stderr, "goes on with the content that it began with"); code != 0 || told != (content != "") {
			t.Errorf("%q: exit %d: %s", content, code, stderr)
		}
	}
}
