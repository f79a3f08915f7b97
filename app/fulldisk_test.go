// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/internal/tune"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/runs"
)

// impatient shortens the minute for which a full disk is tried again.
func impatient(t *testing.T, d time.Duration) {
	t.Helper()
	before := tune.Patience
	tune.Patience = d
	t.Cleanup(func() { tune.Patience = before })
}

// fullFor lets the files called name fail, once from on were written, a number of times.
func fullFor(t *testing.T, name string, from, times int) (restore func()) {
	t.Helper()
	var n atomic.Int64
	return atomicfile.Inject(func(op, path string) error {
		if op != "create" || filepath.Base(path) != name {
			return nil
		}
		if k := int(n.Add(1)) - 1; k < from || k >= from+times {
			return nil
		}
		return syscall.ENOSPC
	})
}

// A disk that is full for a while delays a run; one that stays full ends it with 73 and
// the line that resumes it, and nothing but the time since the last checkpoint is lost.
func TestFullDiskOfRuns(t *testing.T) {
	tier.SlowOnly(t)
	impatient(t, 120*time.Millisecond)
	apptest.ScriptFile(t, apptest.AssemblyScript)
	classes := apptest.Write(t, "classes.json", apptest.TinyClasses)
	line := apptest.LineFile(t)
	flow := demo.Sheared(1)
	flow.Setup.Times = flow.Setup.Times[:24]
	folder := t.TempDir()
	if err := flow.Write(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args, resume, result string
		first                int    // checkpoints before the disk is full; -1 if there are none
		late                 string // a file that is written when all is computed
	}{
		{"train connectome " + classes + " --out %s", "train connectome --resume ", "connectome.npz", 1, "connectome.npz"},
		{"sim assembly s.yaml --out %s --checkpoint 1ns", "sim assembly --resume ", "trace.csv", 0, "measures.csv"},
		{"sim assembly s.yaml --out %s", "sim assembly --resume ", "trace.csv", -1, "summary.json"},
		{"sample twotime " + filepath.Join(folder, "flow.yaml") + " --out %s --warmup 60 --draws 30 --retries 0 --no-report --homodyne", "sample twotime --resume ", "chain-1.csv", 1, "samples.npz"},
		{"sample expr --problem " + line + " --out %s --warmup 60 --draws 30 --retries 0 --no-report", "sample expr --resume ", "chain-1.csv", 1, "draws.zarr"},
	} {
		dir := t.TempDir()
		run := func(name string) (int, string) {
			code, _, stderr := apptest.Do(t, strings.Fields(fmt.Sprintf(c.args, filepath.Join(dir, name)))...)
			return code, stderr
		}
		if code, stderr := run("whole"); code != exit.OK {
			t.Fatalf("%s: exit %d: %s", c.args, code, stderr)
		}
		want, err := os.ReadFile(filepath.Join(dir, "whole", c.result))
		if err != nil {
			t.Fatal(err)
		}
		goesOn := func(name string) {
			t.Helper()
			if code, _, stderr := apptest.Do(t, append(strings.Fields(c.resume), filepath.Join(dir, name))...); code != exit.OK {
				t.Errorf("%s %s: resumed: exit %d: %s", c.args, name, code, stderr)
			}
			if got, err := os.ReadFile(filepath.Join(dir, name, c.result)); err != nil || string(got) != string(want) && c.result != "chain-1.csv" {
				t.Errorf("%s %s: %s differs from that of a run that was not disturbed, %v", c.args, name, c.result, err)
			}
		}
		if c.first >= 0 {
			restore := fullFor(t, "checkpoint", c.first, 1)
			code, stderr := run("while")
			restore()
			if code != exit.OK || !strings.Contains(stderr, "trying again") {
				t.Errorf("%s, full for a while: exit %d: %s", c.args, code, stderr)
			}
			goesOn("while")
		}
		restore := fullFor(t, c.late, 0, 1)
		code, stderr := run("late")
		restore()
		if try := " is full: free some space, then run euryale " + c.resume + filepath.Join(dir, "late"); code != exit.CannotWrite || !strings.Contains(stderr, try) {
			t.Errorf("%s, full at %s: exit %d: %s", c.args, c.late, code, stderr)
		}
		goesOn("late")
	}
	dir := filepath.Join(t.TempDir(), "stays")
	restore := fullFor(t, "checkpoint", 1, 1e6)
	code, _, stderr := apptest.Do(t, "train", "connectome", classes, "--out", dir)
	restore()
	if try := " is full: free some space, then run euryale train connectome --resume " + dir; code != exit.CannotWrite || !strings.Contains(stderr, try) || !foreign.Exists(filepath.Join(dir, "checkpoint")) {
		t.Errorf("the disk stays full: exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, "train", "connectome", "--resume", dir, "--quiet"); code != exit.OK {
		t.Errorf("resumed: exit %d: %s", code, stderr)
	}
	dir = filepath.Join(t.TempDir(), "stays")
	ends := atomicfile.Inject(func(op, path string) error {
		if op == "create" && strings.HasPrefix(path, dir) && filepath.Base(path) != "config.json" && filepath.Base(path) != runs.MarkerFile {
			return syscall.ENOSPC
		}
		return nil
	})
	code, _, stderr = apptest.Do(t, "sim", "assembly", "s.yaml", "--out", dir, "--quiet")
	ends()
	if try := " is full: free some space, then run euryale sim assembly --resume " + dir; code != exit.CannotWrite || !strings.Contains(stderr, try) {
		t.Errorf("the disk stays full: exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, "sim", "assembly", "--resume", dir, "--quiet"); code != exit.OK {
		t.Errorf("resumed: exit %d: %s", code, stderr)
	}
}

// An interrupt ends training with 130 and the line that resumes it, also while the trained
// circuit is evaluated.
func TestInterruptedTraining(t *testing.T) {
	tier.SlowOnly(t)
	problem := apptest.Write(t, "tiny.json", apptest.TinyClasses)
	trained, ended := 0, 0
	for left := int32(36); ended == 0; left++ {
		dir := filepath.Join(t.TempDir(), "run")
		ctx := &apptest.Countdown{Context: context.Background()}
		ctx.Left.Store(left)
		var out, stderr strings.Builder
		code := app.Run(ctx, []string{"train", "connectome", problem, "--out", dir, "--quiet"}, &out, &stderr)
		if code == exit.OK {
			ended++
			continue
		}
		if code != exit.Interrupted || !strings.Contains(stderr.String(), "interrupted") || !strings.Contains(stderr.String(), "Try: euryale train connectome --resume "+dir) {
			t.Errorf("%d: exit %d: %s", left, code, stderr.String())
		}
		if strings.Contains(stderr.String(), "the run is kept in") {
			trained++
		}
		if code, _, stderr := apptest.Do(t, "train", "connectome", "--resume", dir, "--quiet"); code != exit.OK || !foreign.Exists(filepath.Join(dir, "connectome.npz")) {
			t.Errorf("resumed: exit %d: %s", code, stderr)
		}
	}
	if trained == 0 {
		t.Error("no run was interrupted after its training")
	}
}

// What the parser of command lines prints by itself has the exit code of other output that cannot be written.
func TestFullDiskOfParser(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range [][]string{{"--version"}, {"completion", "bash"}, {"completion", "zsh"}, {"completion", "fish"}, {"completion", "powershell"}} {
		var said strings.Builder
		if code := app.Run(t.Context(), args, full, &said); code != exit.CannotWrite {
			t.Errorf("%v: exit code %d, want %d: %s", args, code, exit.CannotWrite, said.String())
		}
	}
}
