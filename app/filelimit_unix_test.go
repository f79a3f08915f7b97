// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package app_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/internal/tune"
	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// limited is the variable that lets the test binary be the program, with the arguments that it has, one per line.
const limited = "EURYALE_TEST_LIMITED"

func TestLimitedChild(t *testing.T) {
	args, ok := os.LookupEnv(limited)
	if !ok {
		t.Skip("TestFilesOfLimitedSize starts this one as its child")
	}
	tune.Patience = time.Millisecond // with a full disk, for which others are to make room
	os.Exit(app.Run(context.Background(), strings.Split(args, "\n"), os.Stdout, os.Stderr))
}

// A program whose files may have no more than a few kilobytes (ulimit -f) says so and ends with 73, leaves no temporary
// file, and what can be resumed goes on without the limit.
func TestFilesOfLimitedSize(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell here")
	}
	config := apptest.Decays(t, 3, "")
	batch := strings.TrimSuffix(config, ".yaml")
	if code, _, stderr := apptest.Do(t, "batch", config); code != 0 {
		t.Fatal(stderr)
	}
	expr := apptest.LineFile(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		blocks string // of 512 bytes, as POSIX has them
		args   []string
		then   []string // without the limit; nil if it is the same command, empty for none, where it would take long
	}{
		{"1", []string{"batch", "run", batch}, nil},
		{"8", []string{"sample", "expr", "--problem", expr, "--out", at("run"), "--warmup", "60", "--draws", "200", "--retries", "0", "--no-report"}, []string{"sample", "expr", "--resume", at("run")}},
		{"16", []string{"demo", "xpcs", "--out", at("demo")}, []string{}},
	} {
		child := exec.Command(sh, "-c", "ulimit -f "+c.blocks+"; exec \"$0\" -test.run='^TestLimitedChild$'", os.Args[0])
		child.Env = append(os.Environ(), limited+"="+strings.Join(c.args, "\n"))
		out, err := child.CombinedOutput()
		var ended *exec.ExitError
		if !errors.As(err, &ended) || ended.ExitCode() != exit.CannotWrite || !strings.Contains(string(out), "ulimit -f") {
			t.Errorf("%v: %v: %s", c.args, err, out)
			continue
		}
		filepath.Walk(dir, func(name string, _ os.FileInfo, _ error) error {
			if atomicfile.Temporary(name) {
				t.Errorf("%v left %s", c.args, name)
			}
			return nil
		})
		if c.then == nil {
			c.then = c.args
		}
		if len(c.then) == 0 {
			continue
		}
		if code, _, stderr := apptest.Do(t, c.then...); code != 0 {
			t.Errorf("%v: exit %d: %s", c.then, code, stderr)
		}
	}
}
