// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"io"
	"slices"

	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Load reads a snapshot. connect must be the Connect function that the brain was made with, or nil
// if it had none.
func Load(r io.Reader, connect func(dst []int32, f Fibre, source int) []int32) (*Brain, error) {
	var data []byte
	err := checkpoint.Read(r, fileKind, fileVersion, func(d *checkpoint.Decoder) { data = d.Rest() })
	if err == nil {
		err = checkpoint.AtEnd(r)
	}
	if err != nil {
		return nil, refused(err)
	}
	in := &source{Decoder: checkpoint.Decode(data), size: len(data)}
	return in.brain(connect)
}

// source reads lists and keeps the first error.
type source struct {
	*checkpoint.Decoder
	size int // size of all lists in bytes
}

func (s *source) err() error {
	if s.Err() == nil {
		return nil
	}
	return refused(&FormatError{Offset: int64(s.At(s.size)), What: s.Err().Error()})
}

// ids reads a list of numbers below n.
func (s *source) ids(n int) []int32 {
	list := s.Int32s()
	for _, v := range list {
		if v < 0 || int(v) >= n {
			s.Fail("there is a neuron %d of only %d", v, n)
			return nil
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// brain makes the brain of a header and fills it.
func (s *source) brain(connect func(dst []int32, f Fibre, source int) []int32) (*Brain, error) {
	var h header
	if err := foreign.Decode(s.Bytes(), &h, false); err != nil {
		s.Fail("header: %v", err)
	}
	if s.Err() != nil {
		return nil, s.err()
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
		if !a.Lazy && a.N > s.size {
			s.Fail("area %s has %d neurons, more than the file has bytes", a.Name, a.N)
			return nil, s.err()
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
		s.area(b, b.areas[i], a)
	}
	for _, f := range h.Fibres {
		if s.Err() == nil {
			s.fibre(b, f)
		}
	}
	for i, a := range h.Areas {
		s.defeats(b, b.areas[i], a.Defeats)
	}
	s.End()
	return b, s.err()
}

func (s *source) area(b *Brain, a *area, saved savedArea) {
	fired := s.Bools()
	if len(fired) > a.N || !a.Lazy && len(fired) < a.N {
		s.Fail("area %s has %d neurons, want %d", a.Name, len(fired), a.N)
		return
	}
	if saved.Support < 0 || saved.Support > len(fired) {
		s.Fail("in area %s %d of %d neurons have fired", a.Name, saved.Support, len(fired))
		return
	}
	a.fixed, a.support, a.fired = saved.Fixed, saved.Support, slices.Clone(fired)
	a.winners = s.ids(a.stored())
	a.times = s.ids(1 << 31)
	if len(a.times) > a.stored() {
		s.Fail("area %s has %d tired neurons, of %d in all", a.Name, len(a.times), a.stored())
	}
	ranks := s.Floats()
	if n := len(ranks); n > 0 && n != a.stored() || n == 0 && a.stored() > 0 && b.conditional(a) {
		s.Fail("area %s has ranks of %d neurons, want %d", a.Name, n, a.stored())
		return
	}
	a.memory.ranks = slices.Clone(ranks)
	for _, step := range saved.Recent {
		a.recent = append(a.recent, firing{step, s.ids(a.stored())})
	}
}

func (s *source) fibre(b *Brain, saved savedFibre) {
	if !(saved.P >= 0 && saved.P <= 1) {
		s.Fail("fibre %s>%s has synapses with probability %g", saved.From, saved.To, saved.P)
		return
	}
	if err := saved.Rule.check(saved.From+">"+saved.To, saved.Beta, b.set.MaxWeight); err != nil {
		s.Fail("%v", err)
		return
	}
	f, err := b.newEmpty(saved)
	if err != nil {
		s.Fail("%v", err)
		return
	}
	stored := f.target.stored()
	f.given = saved.Given && f.synapses != nil && !f.from.Lazy
	if saved.Scaled {
		if f.scale = s.Floats(); len(f.scale) != stored {
			s.Fail("fibre %s>%s has scales of %d neurons, want %d", f.From, f.To, len(f.scale), stored)
		}
	}
	switch {
	case f.stimulus != nil:
		f.inputs, f.total, f.grown = s.ids(f.stimulus.size+1), s.Floats(), s.ids(stored)
		if s.Err() == nil && (len(f.inputs) != stored || len(f.total) != stored) {
			s.Fail("fibre %s>%s has %d and %d inputs, want %d", f.From, f.To, len(f.inputs), len(f.total), stored)
		}
		if !f.target.Lazy && s.Err() == nil {
			f.moved = make([]bool, stored)
			for _, j := range f.grown {
				f.moved[j] = true
			}
		}
	case f.given:
		for i := range f.from.stored() {
			links := s.ids(stored)
			if !slices.IsSorted(links) {
				s.Fail("targets of neuron %d are not in order", i)
			}
			if s.Err() != nil {
				return
			}
			r := s.grown(stored)
			r.links = newLinks(links, stored)
			f.synapses.rows[int32(i)] = r
		}
	case f.synapses != nil:
		for _, i := range s.ids(f.from.stored()) {
			if f.synapses.rows[i] = s.grown(stored); s.Err() != nil {
				return
			}
		}
	default:
		for range f.from.stored() {
			if s.Err() != nil {
				return
			}
			f.begin(s.row(stored))
		}
	}
}

// grown reads the weights of a row that have changed.
func (s *source) grown(n int) *row {
	r := &row{to: s.ids(n), weight: s.Floats()}
	if len(r.to) != len(r.weight) || !slices.IsSorted(r.to) {
		s.Fail("there are %d weights for %d synapses in order", len(r.weight), len(r.to))
	}
	return r
}

// row reads the synapses of a source neuron onto a lazy area.
func (s *source) row(n int) (to []int32, weight []float32) {
	to, weight = s.ids(n), s.Float32s()
	if len(to) != len(weight) {
		s.Fail("there are %d weights for %d synapses", len(weight), len(to))
		return nil, nil
	}
	return to, weight
}

// defeats reads what a lazy area knows about the neurons that never fired.
func (s *source) defeats(b *Brain, a *area, list []savedDefeat) {
	for _, saved := range list {
		d := defeat{rival: rival{saved.Input, saved.Rank}}
		for _, from := range saved.From {
			f := b.byName[[2]string{from, a.Name}]
			if f == nil || !a.Lazy {
				s.Fail("there is no fibre %s>%s that area %s could know about", from, a.Name, a.Name)
				return
			}
			var v volley
			if f.stimulus != nil {
				v = volley{from, s.ids(0)}
			} else if v = (volley{from, s.ids(f.from.stored())}); len(v.winners) == 0 && s.Err() == nil {
				s.Fail("a round of area %s has no neurons that fire in %s", a.Name, from)
			}
			if s.Err() != nil {
				return
			}
			d.firing = append(d.firing, v)
			d.set += f.hash(v.winners)
		}
		a.memory.defeats = append(a.memory.defeats, d)
	}
}
