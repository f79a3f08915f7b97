package connectome

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
)

// A checkpoint is a line that names the format with a checksum, and JSON:
//
//	EURYALE-TRAINING 1 CRC-32C of the rest, 8 hexadecimal digits\n
//	{"Problem": SHA-256 of the problem and its examples, "State": {...}}\n

const magic = "EURYALE-TRAINING 1 "

// FormatError says what is wrong with a checkpoint.
type FormatError struct{ What string }

func (e *FormatError) Error() string {
	return "connectome: checkpoint: " + e.What + ": is the file whole, and of this problem?"
}

type checkpoint struct {
	Problem string
	State   *TrainState
}

// SaveState writes a checkpoint of the training, which LoadState reads.
func (t *Trainee) SaveState(w io.Writer, s TrainState) error {
	b, err := json.Marshal(checkpoint{t.sum, &s})
	if err != nil {
		return fmt.Errorf("connectome: checkpoint of update %d: %w", s.Step, err)
	}
	b = append(b, '\n')
	_, err = fmt.Fprintf(w, "%s%08x\n%s", magic, checksum(b), b)
	return err
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// LoadState reads a checkpoint of the same problem, for TrainSettings.Resume. What is
// damaged, or of another problem or other examples, is a *FormatError.
func (t *Trainee) LoadState(r io.Reader) (*TrainState, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("connectome: checkpoint: %w", err)
	}
	head, body, _ := bytes.Cut(b, []byte("\n"))
	if !bytes.HasPrefix(head, []byte(magic)) {
		return nil, &FormatError{fmt.Sprintf("it begins with %.20q, not with %q", head, magic)}
	}
	if string(head[len(magic):]) != fmt.Sprintf("%08x", checksum(body)) {
		return nil, &FormatError{"the checksum is not that of the contents"}
	}
	var c checkpoint
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, &FormatError{err.Error()}
	}
	if c.Problem != t.sum || c.State == nil {
		return nil, &FormatError{"the problem or its examples are not those that were trained on"}
	}
	if err := c.State.check(t.Settings.defaults().Steps, len(t.Circuit.Start())); err != nil {
		return nil, &FormatError{err.Error()}
	}
	return c.State, nil
}

// check looks at a state for a training of steps updates of n parameters.
func (s *TrainState) check(steps, n int) error {
	if len(s.Params) != n {
		return fmt.Errorf("the state to resume from has %d parameters, the circuit %d", len(s.Params), n)
	}
	if s.Step < 0 || s.Step > steps || len(s.Loss) != s.Step || s.Adam.Step != s.Step {
		return fmt.Errorf("the state to resume from has %d updates of %d, %d losses and %d steps of Adam: want as many of each", s.Step, steps, len(s.Loss), s.Adam.Step)
	}
	for i, b := range s.Adam.Buffers {
		if len(b) != n {
			return fmt.Errorf("the state to resume from has %d numbers in memory %d of Adam: want %d", len(b), i, n)
		}
	}
	return nil
}

// sumOf is the SHA-256 of a problem, and of its examples where they are of files.
func (p *Problem) sumOf(t *Trainee) (string, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("connectome: problem: %w", err)
	}
	var again Problem // as it will be read, without empty lists
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
