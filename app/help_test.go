// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
)

var update = flag.Bool("update", false, "rewrite the golden help texts")

// The help of every command is as it was agreed on, and 80 columns wide but for the
// table of flags, which the parser makes.
func TestHelp(t *testing.T) {
	root, all := apptest.Commands()
	for _, c := range all {
		command := strings.TrimPrefix(c.CommandPath(), root.Name()+" ")
		if c == root || c.Parent().Name() == "completion" || command == "help" || command == "completion" {
			continue
		}
		code, out, stderr := apptest.Do(t, append(strings.Fields(command), "--help")...)
		if code != 0 || stderr != "" {
			t.Fatalf("%s: exit %d: %s", command, code, stderr)
		}
		text, _, _ := strings.Cut(out, "\nGlobal Flags")
		about, _, _ := strings.Cut(text, "\nFlags")
		for line := range strings.Lines(about) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
				t.Errorf("%s: %d columns: %s", command, n, line)
			}
		}
		name := filepath.Join("testdata", "help-"+strings.ReplaceAll(command, " ", "-")+".golden.txt")
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if text != string(want) {
			t.Errorf("%s: the help is\n%s\nwant\n%s", command, text, want)
		}
	}
}

// A folder of results is refused by commands that have none.
func TestFolderWhereThereIsNone(t *testing.T) {
	var out, errs strings.Builder
	if code := app.Run(t.Context(), []string{"info", "--out", "x"}, &out, &errs); code != exit.WrongUsage || !strings.Contains(errs.String(), "no folder of results") {
		t.Errorf("exit %d, %s", code, errs.String())
	}
}

// The help says when --overwrite removes what was there, and it is so: a problem that is
// refused leaves the old results, a run that has begun does not.
func TestOverwriteRemovesWhenTheRunBegins(t *testing.T) {
	if _, out, _ := apptest.Do(t, "sample", "expr", "--help"); !strings.Contains(out, "deleted when the run begins") {
		t.Error(out)
	}
	t.Chdir(t.TempDir())
	bad := apptest.Write(t, "bad.json", `{"expr": "a"}`)
	args := []string{"sample", "expr", "--problem", apptest.LineFile(t), "--out", "run", "--warmup", "60", "--draws", "30", "--retries", "0", "--no-report", "--quiet"}
	if code, _, stderr := apptest.Do(t, args...); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, "sample", "expr", "--problem", bad, "--out", "run", "--overwrite"); code != exit.Data || !foreign.Exists("run/summary.json") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	restore := atomicfile.Inject(func(op, name string) error {
		if op == "create" && filepath.Base(name) == "checkpoint" {
			return syscall.EIO
		}
		return nil
	})
	code, _, stderr := apptest.Do(t, append(args, "--overwrite")...)
	restore()
	if code != exit.CannotWrite || foreign.Exists("run/summary.json") || !strings.Contains(stderr, "--resume run") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
