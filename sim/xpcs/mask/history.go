// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"fmt"
	"slices"
)

// History is a mask that is being edited: a list of records, of which one is current. Record 0
// keeps every pixel, record 1 keeps all but the detector's blemishes, and each step adds one.
type History struct {
	source  Source
	blemish string
	bare    bool // whether the record of the blemish is gone
	records []record
	at      int
}

type record struct {
	step Step // that made it; none for the first two
	bits []uint64
}

// NewHistory starts with the mask of the blemish file, or with all pixels if the name is empty.
// Pixels of the image that are not numbers, such as those that a detector marks as bad, are
// blemishes too.
func NewHistory(s Source, blemish string) (*History, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	all := New(s.Height, s.Width)
	h := &History{source: s, blemish: blemish, records: []record{{bits: pack(all)}}}
	first := all
	if blemish != "" {
		var err error
		if first, err = s.open(blemish); err != nil {
			return nil, err
		}
	}
	first = s.finite(first)
	h.records = append(h.records, record{bits: pack(first)})
	h.at = 1
	return h, nil
}

// Mask returns a copy of the current mask.
func (h *History) Mask() *Mask { return unpack(h.records[h.at].bits, h.source.Height, h.source.Width) }

// Preview returns the current mask as it would be after a step, and the regions of outliers for a plot.
func (h *History) Preview(s Step) (*Mask, []Region, error) {
	now := h.Mask()
	m, regions, err := s.Mask(h.source, now)
	if err != nil {
		return nil, nil, err
	}
	return now, regions, now.And(m)
}

// Apply masks what a step masks. If this changes the current mask it adds a record, in place of those that
// were undone, and reports true.
func (h *History) Apply(s Step) (changed bool, err error) { return h.apply(s, false) }

func (h *History) apply(s Step, always bool) (bool, error) {
	s, err := s.clone()
	if err != nil {
		return false, err
	}
	var now *Mask
	if s.Outliers != nil { // which alone depend on what is masked already
		now = h.Mask()
	}
	m, _, err := s.Mask(h.source, now)
	if err != nil {
		return false, err
	}
	if m.Height != h.source.Height || m.Width != h.source.Width {
		return false, fmt.Errorf("mask: a mask of %d x %d pixels does not fit one of %d x %d: use masks of one detector", m.Height, m.Width, h.source.Height, h.source.Width)
	}
	bits := pack(m)
	for i, was := range h.records[h.at].bits {
		bits[i] &= was
	}
	if !always && slices.Equal(bits, h.records[h.at].bits) {
		return false, nil
	}
	h.bare = h.bare || h.at == 0
	h.records = append(slices.Clip(h.records[:h.at+1]), record{s, bits})
	h.at++
	return true, nil
}

// Undo goes back by one record and reports whether there was one.
func (h *History) Undo() bool {
	if h.at == 0 {
		return false
	}
	h.at--
	return true
}

// Redo goes forward by one record and reports whether there was one.
func (h *History) Redo() bool {
	if h.at == len(h.records)-1 {
		return false
	}
	h.at++
	return true
}

// Reset forgets everything but record 0, the blemish included.
func (h *History) Reset() { h.records, h.at, h.bare = h.records[:1:1], 0, true }

// Len returns the number of records, those that were undone included.
func (h *History) Len() int { return len(h.records) }

// At returns the number of the current record, counted from 0.
func (h *History) At() int { return h.at }

// pack stores a mask in one bit for each pixel.
func pack(m *Mask) []uint64 {
	bits := make([]uint64, (len(m.Keep)+63)/64)
	for i, k := range m.Keep {
		if k {
			bits[i/64] |= 1 << (i % 64)
		}
	}
	return bits
}

func unpack(bits []uint64, height, width int) *Mask {
	m := &Mask{height, width, make([]bool, height*width)}
	for i := range m.Keep {
		m.Keep[i] = bits[i/64]>>(i%64)&1 == 1
	}
	return m
}

// String says which record is current and what it keeps.
func (h *History) String() string {
	return fmt.Sprintf("record %d of %d: %v", h.at, len(h.records)-1, h.Mask())
}
