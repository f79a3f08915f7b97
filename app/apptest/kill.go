// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package apptest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/internal/tune"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// Main lets the test binary be the command, for tests that kill it. Packages call it from their TestMain.
func Main(m *testing.M) {
	tune.PictureDPI = 30
	if os.Getenv("EURYALE_TEST_COMMAND") != "" {
		if k, err := strconv.Atoi(os.Getenv("EURYALE_TEST_KILL")); err == nil {
			dieAt(k)
		}
		if number, err := strconv.Atoi(os.Getenv("EURYALE_TEST_SIGNAL")); err == nil {
			signalAtCheckpoint(2, syscall.Signal(number)) // the first is written before the chains begin
		}
		if script := os.Getenv("EURYALE_TEST_GPU"); script != "" {
			if err := pretend.Attach(os.Getenv("EURYALE_LIBCUDA"), script); err != nil {
				panic(err)
			}
		}
		os.Exit(app.Main())
	}
	os.Exit(m.Run())
}

// start is the folder of the package under test, recorded before tests can change it.
var start, _ = os.Getwd()

// Root is the path of a file of the repository, given from its top.
func Root(elem ...string) string {
	dir := start
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return filepath.Join(append([]string{dir}, elem...)...)
}

// dieAt makes the process kill itself at an operation, for KillAt.
func dieAt(k int) {
	var n atomic.Int64
	atomicfile.Inject(func(string, string) error {
		if n.Add(1) == int64(k) {
			p, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = p.Kill()
			}
			if err != nil {
				panic(err)
			}
			select {} // until it comes
		}
		return nil
	})
}

// KillAt kills a process of its own at the k-th operation.
func KillAt(t *testing.T, k int, args []string) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "EURYALE_TEST_COMMAND=1", "EURYALE_TEST_KILL="+strconv.Itoa(k))
	b, err := cmd.CombinedOutput()
	switch {
	case cmd.ProcessState == nil:
		t.Fatalf("no process was started: %v", err)
	case err == nil || cmd.ProcessState.Exited():
		t.Logf("operation %d does not kill: %v %s", k, err, b) // fewer checkpoints than before
	}
	return false
}
