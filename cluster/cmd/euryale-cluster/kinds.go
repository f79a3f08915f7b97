// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/batch/work"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// openWork returns the task of a list that euryale batch has made.
func openWork(m *batch.Manifest, may allowed) (batch.Task, error) {
	if err := work.CheckSet(m); err != nil {
		return nil, &exitError{code: exitConfig, err: err}
	}
	env := work.Env{Program: beside("euryale"), Permit: may.permit}
	wide := work.Wide(m)
	if wide {
		env.Threads = runtime.GOMAXPROCS(0)
	}
	t, err := work.Open(m, env)
	if err == nil && wide {
		t = &oneAtATime{Task: t}
	}
	return t, err
}

// allowed says which programs this machine may start for the items of a list, besides those kinds of work that are built into this
// program.
type allowed struct {
	Any      bool     `json:"any,omitempty"` // because the user named the list
	Programs []string `json:"programs,omitempty"`
}

// permit returns an error for a program that may not be started.
func (a allowed) permit(program string) error {
	if a.Any || slices.ContainsFunc(a.Programs, func(name string) bool { return absolute(name) == absolute(program) }) {
		return nil
	}
	return &exitError{code: exitConfig, err: fmt.Errorf("the list asks this worker to start the program %s for every item, and the worker was not told that it may", foreign.Typed(foreign.Short(program, 1000))),
		hint: fmt.Sprintf("--allow %s to permit this program, or --manifest FILE to name a list that you know, whose program is then permitted", foreign.Typed(foreign.Short(program, 1000)))}
}

// absolute returns the path of a program: of euryale as beside finds it, of other names as a shell does.
func absolute(name string) string {
	switch found, err := exec.LookPath(name); {
	case name == "euryale":
		name = beside(name)
	case err == nil:
		name = found
	}
	if path, err := filepath.Abs(name); err == nil {
		return path
	}
	return name
}

// oneAtATime is a task whose items use all threads.
type oneAtATime struct {
	batch.Task
	mu sync.Mutex
}

// Do does items when nobody else does.
func (o *oneAtATime) Do(ctx context.Context, items batch.Range, put func(batch.Record)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.Task.Do(ctx, items, put)
}

// beside returns the program of a name in the folder of this one, else the one that a shell would find.
func beside(name string) string {
	if self, err := os.Executable(); err == nil {
		other := filepath.Join(filepath.Dir(self), name)
		if st, err := os.Stat(other); err == nil && st.Mode().IsRegular() {
			return other
		}
	}
	if found, err := exec.LookPath(name); err == nil {
		return found
	}
	return name
}
