package assembly

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// Load reads a snapshot. If the brain had a Connect function it must be given again,
// else it is nil.
func Load(r io.Reader, connect func(dst []int32, f Fibre, source int) []int32) (*Brain, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("assembly: snapshot: %w", err)
	}
	if !bytes.HasPrefix(data, []byte(magic)) {
		return nil, &FormatError{0, fmt.Sprintf("it begins with %.16q, not with %q", data, magic)}
	}
	end := len(data) - 4
	if end < len(magic) || crc32.Checksum(data[:end], crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(data[end:]) {
		return nil, &FormatError{int64(max(end, 0)), "the checksum is not that of the contents"}
	}
	in := &source{data: data[:end], at: len(magic)}
	return in.brain(connect)
}

// source reads blocks; the first mistake stays.
type source struct {
	data []byte
	at   int
	err  error
}

func (s *source) fail(format string, args ...any) {
	if s.err == nil {
		s.err = &FormatError{int64(s.at), fmt.Sprintf(format, args...)}
	}
}

// take returns the bytes of a block of numbers of the size given.
func (s *source) take(size int) []byte {
	if s.err != nil {
		return nil
	}
	if len(s.data)-s.at < 4 {
		s.fail("it ends where a block should begin")
		return nil
	}
	n := int(binary.LittleEndian.Uint32(s.data[s.at:])) * size
	if s.at += 4; n > len(s.data)-s.at {
		s.fail("a block of %d bytes, where %d are left", n, len(s.data)-s.at)
		return nil
	}
	s.at += n
	return s.data[s.at-n : s.at]
}

// ids returns a block of numbers below n.
func (s *source) ids(n int) []int32 {
	p := s.take(4)
	if len(p) == 0 {
		return nil
	}
	list := make([]int32, len(p)/4)
	binary.Decode(p, binary.LittleEndian, list)
	for _, v := range list {
		if v < 0 || int(v) >= n {
			s.fail("neuron %d of %d", v, n)
			return nil
		}
	}
	return list
}

func (s *source) floats() []float64 {
	p := s.take(8)
	list := make([]float64, len(p)/8)
	binary.Decode(p, binary.LittleEndian, list)
	return list
}

// brain makes the brain of a header and fills it.
func (s *source) brain(connect func(dst []int32, f Fibre, source int) []int32) (*Brain, error) {
	var h header
	if err := json.Unmarshal(s.take(1), &h); err != nil && s.err == nil {
		s.fail("header: %v", err)
	}
	if s.err != nil {
		return nil, s.err
	}
	h.Settings.Connect = connect
	b := New(h.Settings)
	b.frozen, b.step = h.Frozen, h.Step
	for _, st := range h.Stimuli {
		if err := b.AddStimulus(st.Name, st.Size); err != nil {
			return nil, err
		}
	}
	for _, a := range h.Areas {
		if !a.Lazy && a.N > len(s.data) {
			s.fail("area %s of %d neurons, more than the file has bytes", a.Name, a.N)
			return nil, s.err
		}
		if err := b.AddArea(a.Area); err != nil {
			return nil, err
		}
	}
	for _, group := range h.Rivals {
		if err := b.Rivals(group...); err != nil {
			return nil, err
		}
	}
	for _, c := range h.Closed {
		for _, i := range c.Indices {
			b.closed.Set(c.Ends[0], c.Ends[1], i, true)
		}
	}
	for i, a := range h.Areas {
		s.area(b.areas[i], a)
	}
	for _, f := range h.Fibres {
		if s.err == nil {
			s.fibre(b, f)
		}
	}
	if s.err == nil && s.at != len(s.data) {
		s.fail("%d bytes are left over", len(s.data)-s.at)
	}
	return b, s.err
}

func (s *source) area(a *area, saved savedArea) {
	if saved.Support < 0 || saved.Support > a.N || saved.Support > len(s.data) {
		s.fail("area %s: %d of %d neurons fired", a.Name, saved.Support, a.N)
		return
	}
	a.fixed, a.support = saved.Fixed, saved.Support
	a.winners = s.ids(a.stored())
	fired := s.take(1)
	if len(fired) != len(a.fired) {
		s.fail("area %s: %d neurons, want %d", a.Name, len(fired), len(a.fired))
		return
	}
	for j, f := range fired {
		a.fired[j] = f != 0
	}
	a.times = s.ids(1 << 31)
	if len(a.times) > a.stored() {
		s.fail("area %s: %d neurons are tired, of %d", a.Name, len(a.times), a.stored())
	}
	for _, step := range saved.Recent {
		a.recent = append(a.recent, firing{step, s.ids(a.stored())})
	}
}

func (s *source) fibre(b *Brain, saved savedFibre) {
	if !(saved.P >= 0 && saved.P <= 1) {
		s.fail("fibre %s>%s has synapses with probability %g", saved.From, saved.To, saved.P)
		return
	}
	if err := saved.Rule.check(saved.From+">"+saved.To, saved.Beta, b.set.MaxWeight); err != nil {
		s.fail("%v", err)
		return
	}
	f, err := b.newEmpty(saved)
	if err != nil {
		s.fail("%v", err)
		return
	}
	stored := f.target.stored()
	f.given = saved.Given && f.web != nil && !f.from.Lazy
	if saved.Scaled {
		if f.scale = s.floats(); len(f.scale) != stored {
			s.fail("fibre %s>%s: scales of %d neurons, want %d", f.From, f.To, len(f.scale), stored)
		}
	}
	switch {
	case f.stimulus != nil:
		f.inputs, f.total, f.grown = s.ids(f.stimulus.size+1), s.floats(), s.ids(stored)
		if s.err == nil && (len(f.inputs) != stored || len(f.total) != stored) {
			s.fail("fibre %s>%s: %d and %d inputs, want %d", f.From, f.To, len(f.inputs), len(f.total), stored)
		}
		if !f.target.Lazy && s.err == nil {
			f.moved = make([]bool, stored)
			for _, j := range f.grown {
				f.moved[j] = true
			}
		}
	case f.given:
		for i := range f.from.stored() {
			links := s.ids(stored)
			if !slices.IsSorted(links) {
				s.fail("targets of neuron %d are not in order", i)
			}
			if s.err != nil {
				return
			}
			r := s.grown(stored)
			r.links = newLinks(links, stored)
			f.web.rows[int32(i)] = r
		}
	case f.web != nil:
		for _, i := range s.ids(f.from.stored()) {
			if f.web.rows[i] = s.grown(stored); s.err != nil {
				return
			}
		}
	default:
		for range f.from.stored() {
			if s.err != nil {
				return
			}
			f.rows = append(f.rows, s.row(stored))
			f.shared = append(f.shared, false)
		}
	}
}

// grown reads the weights of a row that have changed.
func (s *source) grown(n int) *row {
	r := &row{to: s.ids(n), weight: s.floats()}
	if len(r.to) != len(r.weight) || !slices.IsSorted(r.to) {
		s.fail("%d weights of %d synapses in order", len(r.weight), len(r.to))
	}
	return r
}

func (s *source) row(n int) []synapse {
	to, p := s.ids(n), s.take(4)
	weight := make([]float32, len(p)/4)
	binary.Decode(p, binary.LittleEndian, weight)
	if len(to) != len(weight) {
		s.fail("%d weights of %d synapses", len(weight), len(to))
		return nil
	}
	row := make([]synapse, len(to))
	for k, j := range to {
		row[k] = synapse{j, weight[k]}
	}
	return row
}
