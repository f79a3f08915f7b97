// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/batch/work"
)

// openWork returns the task of a list that euryale batch has made.
func openWork(m *batch.Manifest) (batch.Task, error) {
	if err := work.CheckSet(m); err != nil {
		return nil, &exitError{code: exitConfig, err: err}
	}
	env := work.Env{Program: beside("euryale")}
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
