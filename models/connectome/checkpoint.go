// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// A checkpoint holds, in the format of package checkpoint, a hash of the problem and its examples,
// and the state.
const fileKind, fileVersion = "TRAINING", 2

// FormatError says what is wrong with a checkpoint.
type FormatError = checkpoint.FormatError

// refused returns the error of a checkpoint, with what to try.
func refused(err error) error {
	return checkpoint.Refused(err, "connectome: checkpoint", "check that the file is whole and belongs to this problem")
}

// SaveState writes a checkpoint of the training, which LoadState reads.
func (t *Trainee) SaveState(w io.Writer, s TrainState) error {
	err := checkpoint.Write(w, fileKind, fileVersion, func(e *checkpoint.Encoder) {
		e.String(t.sum)
		e.Value(s)
	})
	if err != nil {
		return fmt.Errorf("connectome: checkpoint of update %d: %w", s.Step, err)
	}
	return nil
}

// LoadState reads a checkpoint of the same problem, for TrainSettings.Resume. It returns a
// *FormatError if the checkpoint is damaged or belongs to another problem or to other examples.
func (t *Trainee) LoadState(r io.Reader) (*TrainState, error) {
	var problem string
	var s TrainState
	err := checkpoint.Read(r, fileKind, fileVersion, func(d *checkpoint.Decoder) {
		problem = d.String()
		d.Value(&s)
	})
	if err == nil {
		err = checkpoint.AtEnd(r)
	}
	if err != nil {
		return nil, refused(err)
	}
	if problem != t.sum {
		return nil, refused(&FormatError{What: "the problem or its examples are not those that were trained on: resume with these, or train anew"})
	}
	if err := s.check(t.Settings.defaults().Steps, len(t.Circuit.Start())); err != nil {
		return nil, refused(&FormatError{What: err.Error()})
	}
	return &s, nil
}

// check returns an error unless a state fits a training of steps updates of n parameters.
func (s *TrainState) check(steps, n int) error {
	if len(s.Params) != n {
		return fmt.Errorf("the state to resume from has %s, but the circuit has %d: resume the circuit that was trained", errtext.Count(len(s.Params), "parameter"), n)
	}
	if s.Step < 0 || s.Step > steps || len(s.Loss) != s.Step || s.Adam.Step != s.Step {
		return fmt.Errorf("the state to resume from has %s of %d, but %d losses and %s of Adam: resume from another state, or train anew", errtext.Count(s.Step, "update"), steps, len(s.Loss), errtext.Count(s.Adam.Step, "step"))
	}
	for i, b := range s.Adam.Buffers {
		if len(b) != n {
			return fmt.Errorf("the state to resume from has %s in memory %d of Adam, but the circuit has %s: resume the circuit that was trained", errtext.Count(len(b), "number"), i, errtext.Count(n, "parameter"))
		}
	}
	return nil
}

// sumOf returns the SHA-256 of a problem and, if its examples come from files, of these.
func (p *Problem) sumOf(t *Trainee) (string, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("connectome: problem: %w", err)
	}
	var again Problem // the problem as it will be read, without empty lists
	if err := json.Unmarshal(b, &again); err != nil {
		return "", fmt.Errorf("connectome: problem: %w", err)
	}
	if b, err = json.Marshal(again); err != nil {
		return "", fmt.Errorf("connectome: problem: %w", err)
	}
	h := sha256.New()
	h.Write(b)
	for _, e := range []Examples{t.Train, t.Test} {
		for i, x := range e.Stimuli {
			if p.Task == nil {
				_ = binary.Write(h, binary.LittleEndian, x) // a hash takes everything
				_ = binary.Write(h, binary.LittleEndian, int64(e.Labels[i]))
			}
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
