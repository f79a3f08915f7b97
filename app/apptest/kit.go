// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package apptest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/runs"
)

// signalAtCheckpoint makes the process send itself a signal as it writes its n-th
// checkpoint.
func signalAtCheckpoint(n int64, signal syscall.Signal) {
	var count atomic.Int64
	atomicfile.Inject(func(op, name string) error {
		if op != "sync" || filepath.Base(name) != "checkpoint" || count.Add(1) != n {
			return nil
		}
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = p.Signal(signal)
		}
		return err
	})
}

// Write writes a file into a temporary folder and returns its path.
func Write(t *testing.T, name, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

// Do runs a command line.
func Do(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	before := strangers(args)
	code = app.Run(context.Background(), args, &out, &err)
	for _, name := range strangers(args) {
		if !slices.Contains(before, name) {
			t.Errorf("%v leaves %s, which runs does not remove with --overwrite: add it to the results in runs/clear.go", args, name)
		}
	}
	if missing := Undocumented(args, out.String()); missing != nil {
		t.Errorf("docs/CLI.md does not say that the document of %v has %v", args, missing)
	}
	return code, out.String(), err.String()
}

// strangers lists the files in the run folder of a command line, given by --out, that another run in that folder would not replace. A
// demonstration makes a folder of runs.
func strangers(args []string) []string {
	if at := slices.Index(args, "--out"); at > 0 && args[0] != "demo" && at+1 < len(args) && runs.Folder(args[at+1]).Ours() {
		others, _ := runs.Folder(args[at+1]).Others() // a folder that cannot be read has none
		return others
	}
	return nil
}

// Chains reads the draws of a run folder as written, without the lines that
// tell how long they took.
func Chains(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	files, err := filepath.Glob(filepath.Join(dir, "chain-*.csv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no chains in %s: %v", dir, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if !strings.HasPrefix(line, "#") || !strings.Contains(line, " seconds (") {
				all.WriteString(line)
			}
		}
	}
	return all.String()
}

// decay is a CSV table of a clean single exponential.
func DecayCSV(bad string) string {
	var b strings.Builder
	b.WriteString("bin,tau,g2,g2_err\n")
	for bin := 1; bin <= 2; bin++ {
		for i := range 30 {
			x := 1e-3 * math.Pow(10, float64(i)/8)
			y := fmt.Sprint(1 + 0.2*math.Exp(-2*x/0.5) + 1e-3*math.Sin(float64(37*i)))
			if bin == 2 && i == 7 && bad != "" {
				y = bad
			}
			fmt.Fprintf(&b, "%d,%g,%s,0.001\n", bin, x, y)
		}
	}
	return b.String()
}

// DemoFile writes the demonstration result file.
func DemoFile(t *testing.T) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "demo.hdf")
	if err := os.WriteFile(p, demo.Correlations(), 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

// TinyRun makes a folder run with few draws the working directory's.
func TinyRun(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	if code, _, stderr := Do(t, "sample", "expr", "--problem", LineFile(t), "--out", "run", "--warmup", "60", "--draws", "30", "--retries", "0", "--no-report", "--quiet"); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
}

// Put writes a file of somebody else, with the folders above it.
func Put(t *testing.T, name string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, []byte("mine"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Own runs a command in a process of its own, as the driver is looked for once in each.
func Own(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), "EURYALE_TEST_COMMAND=1"), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// Alone runs the test in a process of its own, where no other test has looked for a driver, and reports
// whether that is done: then the caller returns.
func Alone(t *testing.T) bool {
	t.Helper()
	pretend.Shared(t) // or skips
	if os.Getenv("EURYALE_TEST_ALONE") != "" {
		return false
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), "EURYALE_TEST_ALONE=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return true
}
