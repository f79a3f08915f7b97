// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"io"
	"time"

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

// liveEvery is the time between the tables that a run which goes on writes for those who look at it. Writing takes at most a tenth of the run time.
var liveEvery = 2 * time.Second

// liveTables are the tables of a run that goes on.
type liveTables struct{ next time.Time }

// update writes the tables if it is time. They are for looking only, so that one that cannot be written is written at another time, or at the end,
// which says why it could not.
func (l *liveTables) update(r *assemblyRun) {
	begin := time.Now()
	if begin.Before(l.next) {
		return
	}
	_ = r.writeTables()
	l.next = time.Now().Add(max(liveEvery, 10*time.Since(begin)))
}
