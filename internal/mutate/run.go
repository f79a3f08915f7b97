// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// outcome is the result of testing a fault.
type outcome int

const (
	survived outcome = iota
	killed
	invalid // the fault does not compile, and so does not count
)

// trial runs the tests of a package with one file replaced.
type trial struct {
	root, work string
	limit      time.Duration // time after which the tests are considered to hang
	short      bool          // whether to run only the short tests
}

// on compiles the tests of pkg with the fault and runs them, the short ones first.
func (t *trial) on(f fault, pkgs []string) (outcome, error) {
	original := filepath.Join(t.root, f.path)
	source, err := os.ReadFile(original)
	if err != nil {
		return 0, err
	}
	overlay, err := t.overlay(f, source)
	if err != nil {
		return 0, err
	}
	for _, pkg := range pkgs {
		binary := filepath.Join(t.work, "planted.test")
		if err := t.compile(pkg, binary, "-overlay", overlay); err != nil {
			return invalid, nil
		}
		for _, short := range []bool{true, false} {
			if (short || !t.short) && !t.passes(pkg, binary, short) {
				return killed, nil
			}
		}
	}
	return survived, nil
}

// overlay writes what makes go compile the source with the fault.
func (t *trial) overlay(f fault, source []byte) (string, error) {
	planted := filepath.Join(t.work, "planted.go")
	if err := os.WriteFile(planted, f.plantedIn(source), 0o644); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(t.root, f.path): planted}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(t.work, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o644)
}

func (t *trial) compile(pkg, binary string, flags ...string) error {
	args := append([]string{"test", "-c", "-vet=off", "-o", binary}, flags...)
	cmd := exec.Command("go", append(args, "./"+pkg)...)
	cmd.Dir = t.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mutate: the tests of %s do not compile: %s", pkg, out)
	}
	return nil
}

// passes runs a test binary in its folder. Taking too long counts as failing, and so does taking
// more memory than the shell's limit. Reference files beside the repository are hidden, so that the
// score is that of a fresh clone.
func (t *trial) passes(pkg, binary string, short bool) bool {
	ctx, cancel := context.WithTimeout(context.Background(), t.limit)
	defer cancel()
	script := fmt.Sprintf(`ulimit -v 16000000 2>/dev/null; exec "$0" -test.failfast -test.short=%t -test.timeout=%s`, short, t.limit)
	cmd := exec.CommandContext(ctx, "sh", "-c", script, binary)
	cmd.Dir = filepath.Join(t.root, pkg)
	cmd.Env = append(os.Environ(), "EURYALE_REFERENCE="+filepath.Join(t.work, "reference"))
	cmd.WaitDelay = time.Second
	return cmd.Run() == nil
}

// begin measures how long the package takes without faults, and sets the time limit.
func (t *trial) begin(pkgs []string) error {
	t.limit = 10 * time.Minute
	start := time.Now()
	for _, pkg := range pkgs {
		binary := filepath.Join(t.work, "sound.test")
		if err := t.compile(pkg, binary); err != nil {
			return err
		}
		if !t.passes(pkg, binary, t.short) {
			return errors.New("mutate: the tests of " + pkg + " fail without a fault: mend them first")
		}
	}
	t.limit = max(20*time.Second, 4*time.Since(start))
	return nil
}
