package nn

import (
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

// ReadState reads what WriteState wrote. A file that is damaged or of something else is an error that says so.
func ReadState(r io.Reader) (*State, error) {
	s := &State{}
	err := checkpoint.Read(r, stateKind, stateVersion, func(d *checkpoint.Decoder) { d.Value(s) })
	return s, err
}
