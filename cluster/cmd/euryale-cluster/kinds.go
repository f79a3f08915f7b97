package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/batch/work"
)

// openWork returns the task of a list that euryale batch has made.
func openWork(m *batch.Manifest) (batch.Task, error) {
	if err := work.CheckSet(m); err != nil {
		return nil, &exitError{code: exitConfig, err: err}
	}
	env := work.Env{Program: beside("euryale")}
	if work.Wide(m) {
		env.Threads = runtime.GOMAXPROCS(0)
	}
	return work.Open(m, env)
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
