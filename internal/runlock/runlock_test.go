// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runlock

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestOneOwner(t *testing.T) {
	dir := t.TempDir()
	l, before, err := Acquire(dir, "first")
	if err != nil || before != nil {
		t.Fatal(err, before)
	}
	var held *Held
	if _, _, err := Acquire(dir, "second"); !errors.As(err, &held) || held.Owner == nil || held.Owner.PID != os.Getpid() || held.Owner.Command != "first" ||
		!strings.Contains(err.Error(), "(first) on ") {
		t.Errorf("%v", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
	if l, before, err = Acquire(dir, "third"); err != nil || before != nil {
		t.Fatal(err, before)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// TestMain lets the test be its own child that locks a folder and waits.
func TestMain(m *testing.M) {
	if dir := os.Getenv("RUNLOCK_DIR"); dir != "" {
		if _, _, err := Acquire(dir, "child"); err != nil {
			os.Exit(3)
		}
		os.Stdout.WriteString("locked\n")
		time.Sleep(time.Minute)
	}
	os.Exit(m.Run())
}

// A killed process leaves its file, which says who it was, and no lock.
func TestKilledOwner(t *testing.T) {
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "RUNLOCK_DIR="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 7)); err != nil {
		t.Fatal(err)
	}
	var held *Held
	if _, _, err := Acquire(dir, "late"); !errors.As(err, &held) || held.Owner == nil || held.Owner.PID != child.Process.Pid || held.Elsewhere {
		t.Errorf("%v", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.Wait()
	l, before, err := Acquire(dir, "late")
	if err != nil || before == nil || before.PID != child.Process.Pid {
		t.Fatalf("%v, before %v", err, before)
	}
	l.Release()
}

// A lock of another machine is never taken: whether it is held cannot be known.
func TestOtherMachine(t *testing.T) {
	dir := t.TempDir()
	text := `{"pid": 1, "host": "elsewhere.example", "started": "2026-01-02T03:04:05Z", "command": "x"}`
	if err := os.WriteFile(filepath.Join(dir, Name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var held *Held
	if _, _, err := Acquire(dir, "y"); !errors.As(err, &held) || !held.Elsewhere || !strings.Contains(err.Error(), "elsewhere.example since 2026-01-02") || !strings.Contains(err.Error(), "remove ") {
		t.Errorf("%v", err)
	}
}

// A process that was taken for dead and goes on leaves the lock to the one that has it now.
func TestReleaseAfterTakeover(t *testing.T) {
	dir := t.TempDir()
	late, _, err := Acquire(dir, "late")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, Name)); err != nil {
		t.Fatal(err)
	}
	now, _, err := Acquire(dir, "now")
	if err != nil {
		t.Fatal(err)
	}
	if err := late.Release(); err != nil {
		t.Fatal(err)
	}
	var held *Held
	if _, _, err := Acquire(dir, "third"); !errors.As(err, &held) || held.Owner == nil || held.Owner.Command != "now" {
		t.Errorf("the lock of another process was removed: %v", err)
	}
	if err := now.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, Name)); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A file that says nothing, or something else, is no owner.
func TestDamagedFile(t *testing.T) {
	for _, text := range []string{"", "{", "null", `{"pid": 0}`, "\x00\xff"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, Name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		l, before, err := Acquire(dir, "y")
		if err != nil || before != nil {
			t.Fatalf("%q: %v %v", text, err, before)
		}
		l.Release()
	}
}

// Of many that want it at a time, one has it.
func TestRace(t *testing.T) {
	race(t, t.TempDir(), Acquire)
	race(t, filepath.Join(t.TempDir(), "mask.h5"), AcquireFile)
}

func race(t *testing.T, dir string, acquire func(name, command string) (*Lock, *Owner, error)) {
	var inside, most atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for done := 0; done < 20; {
				l, _, err := acquire(dir, "race")
				if err != nil {
					var held *Held
					if !errors.As(err, &held) && !strings.Contains(err.Error(), "appeared and disappeared") {
						t.Error(err)
						return
					}
					continue
				}
				most.Store(max(most.Load(), inside.Add(1)))
				inside.Add(-1)
				l.Release()
				done++
			}
		}()
	}
	wg.Wait()
	if most.Load() != 1 {
		t.Errorf("%d at a time", most.Load())
	}
}

// A lock whose owner has ended, as by kill -9, keeps nobody busy; those of a running process and of another machine do.
func TestBusy(t *testing.T) {
	host, _ := os.Hostname()
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Skipf("lacks a program that can be started: %v", err)
	}
	for text, want := range map[string]bool{
		"": false, "nobody": true,
		fmt.Sprintf(`{"pid": %d, "host": %q}`, os.Getpid(), host):       true,
		fmt.Sprintf(`{"pid": %d, "host": %q}`, ended.Process.Pid, host): false,
		fmt.Sprintf(`{"pid": %d, "host": "else"}`, ended.Process.Pid):   true,
	} {
		dir := t.TempDir()
		if text != "" {
			if err := os.WriteFile(filepath.Join(dir, Name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := Busy(dir); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
