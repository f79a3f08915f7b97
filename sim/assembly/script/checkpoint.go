// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"fmt"
	"io"

	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/sim/assembly"
)

// A checkpoint records the state of a run and its rounds, in the format of package checkpoint,
// followed by a snapshot of the brain, see assembly.Brain.Save.
const fileKind, fileVersion = "SCRIPT", 3

// FormatError says what is wrong with a checkpoint.
type FormatError = checkpoint.FormatError

// standing is the state of a run between two steps.
type standing struct {
	Script     string // SHA-256 of the script's text
	Seed       uint64
	At, Within int
	Step, Done int
	Memory     map[string]memo
	Result     Result
}

// Save writes a checkpoint from which Resume goes on, to the last bit, as r would. An unfinished
// branch is not saved.
func (r *Run) Save(w io.Writer) error {
	m := &r.top
	st := standing{r.script.Sum(), m.seed, m.pc, m.within, m.step, r.done, m.memory, r.result}
	if f := r.forked; f != nil {
		st.Done, st.Result.Measures = f.done, f.measures
	}
	if err := checkpoint.Write(w, fileKind, fileVersion, func(e *checkpoint.Encoder) { e.Value(st) }); err != nil {
		return err
	}
	return m.brain.Save(w)
}

// Resume reads a checkpoint of a run of this script. The seed is taken from the run.
func (s *Script) Resume(in io.Reader, o Settings) (*Run, error) {
	var st standing
	if err := checkpoint.Read(in, fileKind, fileVersion, func(d *checkpoint.Decoder) { d.Value(&st) }); err != nil {
		return nil, refused(err)
	}
	if err := s.fits(&st); err != nil {
		return nil, err
	}
	brain, err := assembly.Load(in, s.Settings.Connect)
	if err != nil {
		return nil, err
	}
	s.Settings.Seed = st.Seed
	brain.SetThreads(s.Settings.Threads)
	brain.SetBackend(s.Settings.Backend)
	r := s.runOf(brain, o)
	r.result, r.done = st.Result, st.Done
	r.top.pc, r.top.within, r.top.step = st.At, st.Within, st.Step
	if st.Memory != nil {
		r.top.memory = st.Memory
	}
	return r, nil
}

// refused returns the error of a checkpoint, with what to try.
func refused(err error) error {
	return checkpoint.Refused(err, "script: checkpoint", "check that the file is whole and of this script")
}

// fits refuses checkpoints of other scripts.
func (s *Script) fits(st *standing) error {
	switch {
	case st.Script != s.Sum():
		return refused(&FormatError{What: fmt.Sprintf("it is of another script, or %s has changed: resume with the script that was run", s.File)})
	case st.At < 0 || st.At > len(s.program) || st.Within < 0 || st.At < len(s.program) && st.Within > s.program[st.At].rounds:
		return refused(&FormatError{What: fmt.Sprintf("it stands at instruction %d, round %d, but the script has %d instructions: run it anew", st.At, st.Within, len(s.program))})
	}
	return nil
}
