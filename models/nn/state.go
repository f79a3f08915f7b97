// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"fmt"
	"io"

	"github.com/euryale-dev/euryale/internal/checkpoint"
)

const (
	stateKind    = "NETWORK"
	stateVersion = 1
)

// WriteState writes the state of a training in a format with checksums.
func WriteState(w io.Writer, s *State) error {
	return checkpoint.Write(w, stateKind, stateVersion, func(e *checkpoint.Encoder) { e.Value(*s) })
}

// ReadState reads what WriteState wrote. If the file is damaged or of another kind, the error says
// so.
func ReadState(r io.Reader) (*State, error) {
	s := &State{}
	if err := checkpoint.Read(r, stateKind, stateVersion, func(d *checkpoint.Decoder) { d.Value(s) }); err != nil {
		return nil, fmt.Errorf("nn: the state of the training cannot be read: %w: take an older one, or train from the start", err)
	}
	return s, nil
}
