// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package runlock

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// A process that is killed while it starts another leaves its lock to it for a moment.
func TestLockLeftToAChild(t *testing.T) {
	dir := t.TempDir()
	ended := exec.Command(os.Args[0], "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, Name))
	if err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	fmt.Fprintf(f, `{"pid": %d, "host": %q, "started": "2026-01-02T03:04:05Z", "command": "x"}`, ended.Process.Pid, host)
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(3*wait, func() { f.Close() })
	l, before, err := Acquire(dir, "next")
	if err != nil || before == nil || before.PID != ended.Process.Pid {
		t.Fatalf("%v, before %v", err, before)
	}
	l.Release()
}

// A process that has ended is not alive, though nobody has asked how.
func TestZombiesAreNotAlive(t *testing.T) {
	c := exec.Command(os.Args[0], "-test.run=^$")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	if runtime.GOOS != "linux" {
		return
	}
	for range 500 {
		if !Alive(c.Process.Pid) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("a process that has ended counts as alive")
}
