// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/runlock"
	"github.com/euryale-dev/euryale/runs"
)

// A folder that another process writes is refused by every command that would write
// there, whatever the flags, and nothing in it changes.
func TestLockedFolders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	problem := filepath.Join(t.TempDir(), "p.json")
	if err := os.WriteFile(problem, []byte(`{"fit": "p", "count": [2, 3, 1, 4, 2, 2], "k": 50}`), 0o644); err != nil {
		t.Fatal(err)
	}
	sample := []string{"sample", "assembly", "--problem", problem, "--draws", "50", "--warmup", "100", "--no-report", "--retries", "0", "--out", dir}
	if code, _, stderr := apptest.Do(t, sample...); code != exit.OK {
		t.Fatal(code, stderr)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) != 1 || filepath.Base(left[0]) != runs.MarkerFile {
		t.Errorf("left: %v %v", left, err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	l, _, err := runlock.Acquire(dir, "another")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{append(sample, "--overwrite"), {"sample", "assembly", "--resume", dir}, {"demo", "g2", "--out", dir, "--overwrite"}} {
		code, _, stderr := apptest.Do(t, args...)
		if code != exit.CannotWrite || !strings.Contains(stderr, "is being written by process") || !strings.Contains(stderr, "(another)") || !strings.Contains(stderr, "wait until the other process has finished") {
			t.Errorf("%v: %d %s", args, code, stderr)
		}
	}
	if after, err := os.ReadFile(filepath.Join(dir, "summary.json")); err != nil || string(after) != string(before) {
		t.Error("the result changed", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// What a killed process left is swept when its folder is taken again; a folder with
// nothing else is empty.
func TestLeftoversAreSwept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.MkdirAll(filepath.Join(dir, ".euryale-tmp-draws.zarr-0badcafe"), 0o755); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(runlock.Owner{PID: 1 << 30, Host: host, Command: "euryale sample"})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{".euryale-tmp-config.json-0badcafe": "{", runlock.Name: string(b)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	problem := filepath.Join(t.TempDir(), "p.json")
	if err := os.WriteFile(problem, []byte(`{"fit": "p", "count": [2, 3, 1, 4, 2, 2], "k": 50}`), 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := apptest.Do(t, "sample", "assembly", "--problem", problem, "--draws", "50", "--warmup", "100", "--no-report", "--retries", "0", "--out", dir)
	if code != exit.OK || !strings.Contains(stderr, "was left unfinished by process 1073741824 (euryale sample)") {
		t.Error(code, stderr)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) != 1 || filepath.Base(left[0]) != runs.MarkerFile {
		t.Errorf("left: %v %v", left, err)
	}
}

// Files of others go neither because a run overwrites its folder nor because they look
// temporary, and what is no lock is not written through.
func TestFilesOfOthersStay(t *testing.T) {
	t.Chdir(t.TempDir())
	line := apptest.LineFile(t)
	put := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte("mine"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	run := func(dir string) (int, string) {
		code, _, stderr := apptest.Do(t, "sample", "expr", "--problem", line, "--out", dir, "--warmup", "100", "--draws", "50", "--retries", "0", "--no-report", "--quiet", "--overwrite")
		return code, stderr
	}
	theirs := []string{"ov/chain-of-thought.csv", "ov/report.html", "ov/config.json", "ov/plots/mine.png", "ov/.tmp-notes-20240101", "ov/.euryale-tmp-x-1234567z"}
	put(theirs...)
	if code, stderr := run("ov"); code != exit.CannotWrite || !strings.Contains(stderr, "no results of a run") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	put("run/notes.txt")
	if err := os.Remove("run/notes.txt"); err != nil {
		t.Fatal(err)
	}
	if code, stderr := run("run"); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	theirs = append(theirs, "run/chain-of-thought.csv", "run/.tmp-notes-20240101", "run/.euryale-tmp-thesis-1/a", "run/.euryale-tmp-thesis-0badcafe/a")
	put(theirs[6:]...)
	if code, stderr := run("run"); code != exit.OK {
		t.Errorf("exit %d: %s", code, stderr)
	}
	put("precious.txt", "linked/x")
	if err := os.Symlink("../precious.txt", "linked/"+runlock.Name); err != nil {
		t.Fatal(err)
	}
	put("linked/" + runs.MarkerFile)
	if code, stderr := run("linked"); code != exit.CannotWrite || !strings.Contains(stderr, "not a lock file") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	for _, name := range append(theirs, "precious.txt") {
		if b, err := os.ReadFile(name); err != nil || string(b) != "mine" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}
