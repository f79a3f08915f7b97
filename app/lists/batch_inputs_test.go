// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lists_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/batch/work"
)

// A list of which an input was replaced does not go on, and says which file it was; other shards do, and so does one whose file was
// copied back.
func TestBatchOfReplacedInputs(t *testing.T) {
	config := apptest.Decays(t, 4, "")
	dir := strings.TrimSuffix(config, ".yaml")
	file := filepath.Join(filepath.Dir(config), "data", "c.csv")
	run := func(want int, text string, args ...string) {
		t.Helper()
		code, out, stderr := apptest.Do(t, append([]string{"batch"}, args...)...)
		if code != want || !strings.Contains(stderr, text) {
			t.Fatalf("%v: exit %d, want %d and %q: %s%s", args, code, want, text, out, stderr)
		}
	}
	put := func(text string, when time.Time) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, when, when); err != nil {
			t.Fatal(err)
		}
	}
	run(0, "", config)
	run(0, "", "run", dir, "--shard", "0/8")
	run(0, "", "run", dir, "--shard", "4/8")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	later := st.ModTime().Add(time.Hour)
	other := strings.Replace(string(good), "1", "2", 1)
	for _, bad := range []func(){
		func() { put(other, later) },
		func() { put(other+"\n", later) },
		func() { put(string(good)+"\n", st.ModTime()) },
	} {
		bad()
		run(exit.Data, "data/c.csv had ", "run", dir)
		run(exit.Data, "1 input file changed", "run", config, "--shard", "5/8")
		run(0, "", "run", dir, "--shard", "1/8") // of other files
	}
	put(string(good), later)
	mended := filepath.Join(filepath.Dir(config), "data", "d.csv") // of which there is no result yet
	if err := os.WriteFile(mended, []byte(other), 0o644); err != nil {
		t.Fatal(err)
	}
	run(0, "../data/d.csv had ", "run", dir)
	if code, _, stderr := apptest.Do(t, "batch", "run", dir); code != 0 || strings.Contains(stderr, "d.csv") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	run(0, "", "merge", dir)
	put(other, later)
	run(0, "", "run", config, "--overwrite")
	run(0, "", "run", dir)
	name := filepath.Join(dir, work.InputsFile)
	if err := os.WriteFile(name, []byte("["), 0o644); err != nil {
		t.Fatal(err)
	}
	run(exit.Data, "restore the file", "run", dir)
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	run(0, "", "run", dir)
}
