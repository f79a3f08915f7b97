// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"io"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/sim/assembly/script"
)

// readAssemblyResult reads the tables of a run folder.
func readAssemblyResult(dir runs.Folder) (*script.Result, error) {
	r := &script.Result{}
	if err := readInto(dir.Path("trace.csv"), r.ReadTrace); err != nil {
		return nil, err
	}
	return r, readInto(dir.Path("measures.csv"), r.ReadMeasures)
}

func readInto(name string, read func(in io.Reader, name string) error) error {
	f, err := foreign.Open(name)
	if err != nil {
		return exit.Input(err)
	}
	defer f.Close()
	return exit.With(exit.Data, read(f, name))
}

// writeTables writes trace.csv and measures.csv.
func (r *assemblyRun) writeTables() error {
	result := r.run.Result()
	if err := atomicfile.Write(r.dir.Path("trace.csv"), true, result.WriteTrace); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	return exit.With(exit.CannotWrite, atomicfile.Write(r.dir.Path("measures.csv"), true, result.WriteMeasures))
}
