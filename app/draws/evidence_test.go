// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
)

// Models are compared by the evidence of their runs, that of smc with that of bridge sampling.
func TestCompareByEvidence(t *testing.T) {
	data := apptest.Write(t, "d.csv", "x,y,sigma\n0,0.1,0.2\n1,1.2,0.2\n2,1.9,0.2\n3,3.3,0.2\n4,3.9,0.2\n5,5.2,0.2\n")
	dir := t.TempDir()
	for name, args := range map[string][]string{"line": {"a*x", "--sampler", "smc"}, "same": {"a*x", "--evidence"}, "flat": {"a + 0*x", "--evidence"}} {
		line := append([]string{"sample", "curve", data, args[0], "--prior", "a=normal(0, 3)", "--out", filepath.Join(dir, name), "--no-report", "--draws", "300", "--quiet"}, args[1:]...)
		if code, _, stderr := apptest.Do(t, line...); code != 0 {
			t.Fatalf("%s: exit code %d: %s", name, code, stderr)
		}
	}
	code, out, stderr := apptest.Do(t, "compare", filepath.Join(dir, "line"), filepath.Join(dir, "flat"), filepath.Join(dir, "same"))
	if code != 0 || !strings.Contains(out, "Log evidence: ") {
		t.Fatalf("exit code %d: %s%s", code, out, stderr)
	}
	free := filepath.Join(dir, "free")
	if code, _, stderr := apptest.Do(t, "sample", "curve", data, "a*x", "--out", free, "--no-report", "--draws", "300", "--quiet", "--evidence"); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if _, out, _ := apptest.Do(t, "compare", filepath.Join(dir, "line"), free); !strings.Contains(out, "The evidence of free is not compared, since a has no prior.") {
		t.Error(out)
	}
	if _, out, _ := apptest.Do(t, "sample", "curve", data, "a*x", "--prior", "a=normal(0, 3)", "--out", free, "--overwrite", "--no-report", "--draws", "20", "--retries", "0", "--quiet", "--evidence"); !strings.Contains(out, "note: there is no evidence: ") {
		t.Error(out)
	}
	less := regexp.MustCompile(`which is (\S+) \+- \S+ less`).FindAllStringSubmatch(out, -1)
	if len(less) != 2 {
		t.Fatal(out)
	}
	for i, most := range []float64{0.3, 1e4} {
		if v, err := strconv.ParseFloat(less[i][1], 64); err != nil || v > most || i == 1 && v < 100 {
			t.Errorf("difference %d is %s: %s", i, less[i][1], out)
		}
	}
}
