package script

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/sim/assembly"
)

// A checkpoint is a line that names the format, where the run stands, its rounds, some
// at a time, each in the encoding of package gob (which keeps infinite inputs) between
// its length and its checksum, and a snapshot of the brain:
//
//	EURYALE-SCRIPT 2\n
//	uint32 length, standing, uint32 CRC-32C of it
//	uint32 length, rounds, uint32 CRC-32C of them; until all are there
//	snapshot, see assembly.Brain.Save

const magic = "EURYALE-SCRIPT 2\n"

// atOnce is how many rounds are written at a time, so that few are there twice.
const atOnce = 4096

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
	Result     Result // without rounds
	Rounds     int    // that follow
}

// Save writes a checkpoint, from which Resume goes on bit by bit as r would. Of a
// branch that is not done nothing is kept.
func (r *Run) Save(w io.Writer) error {
	m := &r.top
	st := standing{r.script.Sum(), m.seed, m.pc, m.within, m.step, r.done, m.memory, r.result, len(r.result.Rounds)}
	st.Result.Rounds = nil
	if f := r.forked; f != nil {
		st.Done, st.Result.Measures = f.done, f.measures
	}
	if _, err := io.WriteString(w, magic); err != nil {
		return err
	}
	if err := writeSection(w, st); err != nil {
		return err
	}
	for part := range slices.Chunk(r.result.Rounds, atOnce) {
		if err := writeSection(w, part); err != nil {
			return err
		}
	}
	return m.brain.Save(w)
}

func writeSection(w io.Writer, v any) error {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(v); err != nil {
		return fmt.Errorf("script: checkpoint: %w", err)
	}
	b := body.Bytes()
	if len(b) > math.MaxUint32 {
		return fmt.Errorf("script: checkpoint: %d bytes in one part: keep fewer winners or measures", len(b))
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(b)))
	for _, part := range [][]byte{head, b, binary.LittleEndian.AppendUint32(nil, sum(b))} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

func readSection(in io.Reader, v any) error {
	head := make([]byte, 4)
	if _, err := io.ReadFull(in, head); err != nil {
		return &FormatError{"it ends where a part begins"}
	}
	length := int64(binary.LittleEndian.Uint32(head)) + 4
	b, err := io.ReadAll(io.LimitReader(in, length))
	if err != nil {
		return fmt.Errorf("script: checkpoint: %w", err)
	}
	if int64(len(b)) < length {
		return &FormatError{fmt.Sprintf("%d bytes of %d", len(b), length)}
	}
	text := b[:len(b)-4]
	if sum(text) != binary.LittleEndian.Uint32(b[len(text):]) {
		return &FormatError{"the checksum is not that of the contents"}
	}
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(v); err != nil {
		return &FormatError{err.Error()}
	}
	return nil
}

// readRounds reads n rounds.
func readRounds(in io.Reader, n int) (rounds []Round, err error) {
	for len(rounds) < n {
		var part []Round
		if err := readSection(in, &part); err != nil {
			return nil, err
		}
		if rounds = append(rounds, part...); len(part) == 0 || len(rounds) > n {
			return nil, &FormatError{fmt.Sprintf("a part of %d rounds after %d of %d", len(part), len(rounds)-len(part), n)}
		}
	}
	return rounds, nil
}

func sum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// Resume reads a checkpoint of a run of this script. The seed is that of the run.
func (s *Script) Resume(in io.Reader, o Options) (*Run, error) {
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(in, head); err != nil || string(head) != magic {
		return nil, &FormatError{fmt.Sprintf("it begins with %.17q, not with %q", head, magic)}
	}
	var st standing
	if err := readSection(in, &st); err != nil {
		return nil, err
	}
	if err := s.fits(&st); err != nil {
		return nil, err
	}
	rounds, err := readRounds(in, st.Rounds)
	if err != nil {
		return nil, err
	}
	brain, err := assembly.Load(in, s.Settings.Connect)
	if err != nil {
		return nil, err
	}
	s.Settings.Seed = st.Seed
	brain.SetThreads(s.Settings.Threads)
	r := s.runOf(brain, o)
	r.result, r.done = st.Result, st.Done
	r.result.Rounds = rounds
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
