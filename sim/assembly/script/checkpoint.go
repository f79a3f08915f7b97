package script

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/euryale-dev/euryale/sim/assembly"
)

// A checkpoint is a line that names the format, where the run stands in the encoding of
// package gob (which keeps infinite inputs) between its length and its checksum, and a
// snapshot of the brain:
//
//	EURYALE-SCRIPT 1\n
//	uint32 length, standing, uint32 CRC-32C of it
//	snapshot, see assembly.Brain.Save

const magic = "EURYALE-SCRIPT 1\n"

// FormatError says what is wrong with a checkpoint.
type FormatError struct{ What string }

func (e *FormatError) Error() string {
	return "script: checkpoint: " + e.What + ": is the file whole, and of this script?"
}

// standing is where a run stands.
type standing struct {
	Script     string // SHA-256 of its text
	Seed       uint64
	At, Within int
	Step, Done int
	Memory     map[string]memo
	Result     Result
}

// Save writes a checkpoint, from which Resume goes on bit by bit as r would. Of a
// branch that is not done nothing is kept.
func (r *Run) Save(w io.Writer) error {
	m := &r.top
	st := standing{r.script.Sum(), m.seed, m.pc, m.within, m.step, r.done, m.memory, r.result}
	if f := r.forked; f != nil {
		st.Done, st.Result.Measures = f.done, f.measures
	}
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(st); err != nil {
		return fmt.Errorf("script: checkpoint: %w", err)
	}
	b := body.Bytes()
	head := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(b)))
	b = binary.LittleEndian.AppendUint32(b, sum(b))
	if _, err := w.Write(append(head, b...)); err != nil {
		return err
	}
	return m.brain.Save(w)
}

func sum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// Resume reads a checkpoint of a run of this script. The seed is that of the run.
func (s *Script) Resume(in io.Reader, o Options) (*Run, error) {
	head := make([]byte, len(magic)+4)
	if _, err := io.ReadFull(in, head); err != nil || string(head[:len(magic)]) != magic {
		return nil, &FormatError{fmt.Sprintf("it begins with %.17q, not with %q", head, magic)}
	}
	length := int64(binary.LittleEndian.Uint32(head[len(magic):])) + 4
	b, err := io.ReadAll(io.LimitReader(in, length))
	if err != nil {
		return nil, fmt.Errorf("script: checkpoint: %w", err)
	}
	if int64(len(b)) < length {
		return nil, &FormatError{fmt.Sprintf("%d bytes of %d", len(b), length)}
	}
	text := b[:len(b)-4]
	if sum(text) != binary.LittleEndian.Uint32(b[len(text):]) {
		return nil, &FormatError{"the checksum is not that of the contents"}
	}
	var st standing
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&st); err != nil {
		return nil, &FormatError{err.Error()}
	}
	if err := s.fits(&st); err != nil {
		return nil, err
	}
	brain, err := assembly.Load(in, s.Settings.Connect)
	if err != nil {
		return nil, err
	}
	s.Settings.Seed = st.Seed
	r := s.runOf(brain, o)
	r.result, r.done = st.Result, st.Done
	r.top.pc, r.top.within, r.top.step = st.At, st.Within, st.Step
	if st.Memory != nil {
		r.top.memory = st.Memory
	}
	return r, nil
}

// fits refuses checkpoints of other scripts.
func (s *Script) fits(st *standing) error {
	switch {
	case st.Script != s.Sum():
		return &FormatError{fmt.Sprintf("it is of another script, or %s has changed", s.File)}
	case st.At < 0 || st.At > len(s.program) || st.Within < 0 || st.At < len(s.program) && st.Within > s.program[st.At].rounds:
		return &FormatError{fmt.Sprintf("it stands at instruction %d, round %d, of %d", st.At, st.Within, len(s.program))}
	}
	return nil
}
