// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"
	"unsafe"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// source is an input node and the destination of its value. A large tensor that is bound in two runs
// in a row is read in place from then on; one that changes after that is always copied.
type source struct {
	feed
	node  *G.Node
	state *ad.State
	i     int
	last  unsafe.Pointer // first element of the tensor of the last run
	mode  readMode
}

type readMode uint8

const (
	undecided readMode = iota
	inPlace
	byCopy
)

// inPlaceFrom is the number of elements from which copying at each run costs more than compiling new
// addresses; alignment is the alignment that vector loads prefer.
const (
	inPlaceFrom = 4096
	alignment   = 64
)

func newSource(n *G.Node, s *ad.State, i int) source {
	src := source{feed: newFeed(s, i), node: n, state: s, i: i}
	if len(src.f64)+len(src.f32) < inPlaceFrom {
		src.mode = byCopy
	}
	return src
}

// load copies the value of the node to the State, or lets the State read it in place.
func (s *source) load(results []*result) error {
	v := s.node.Value()
	if v == nil {
		return fmt.Errorf("gorgonia: input %s has no value: bind one with gorgonia.Let", title(s.node))
	}
	if s.mode != byCopy {
		if done, err := s.place(v, results); done || err != nil {
			return err
		}
	}
	if err := s.value(v); err != nil {
		return fmt.Errorf("gorgonia: input %s: its value is %w", title(s.node), err)
	}
	return nil
}

// place lets the State read the tensor v in place, if that pays.
func (s *source) place(v G.Value, results []*result) (done bool, err error) {
	d, ok := v.(*gt.Dense)
	var at unsafe.Pointer
	if ok && s.fits(d) {
		at = first(d)
	}
	same := at != nil && at == s.last
	s.last = at
	switch {
	case s.mode == inPlace && same:
		return true, nil
	case s.mode == inPlace:
		s.mode = byCopy
		return false, s.bind(nil, nil)
	case !same:
		return false, nil
	case uintptr(at)%alignment != 0 || overlaps(d, results):
		s.mode = byCopy
		return false, nil
	}
	s.mode = inPlace
	if s.f64 != nil {
		return true, s.bind(d.Float64s(), nil)
	}
	return true, s.bind(nil, d.Float32s())
}

// fits reports whether d has the elements of the feed, in order.
func (s *source) fits(d *gt.Dense) bool {
	if !isRowMajor(d) {
		return false
	}
	if s.f64 != nil {
		return d.Dtype() == gt.Float64 && len(d.Float64s()) == len(s.f64)
	}
	return d.Dtype() == gt.Float32 && len(d.Float32s()) == len(s.f32)
}

func first(d *gt.Dense) unsafe.Pointer {
	if d.Dtype() == gt.Float64 {
		return unsafe.Pointer(&d.Float64s()[0])
	}
	return unsafe.Pointer(&d.Float32s()[0])
}

func (s *source) bind(f64 []float64, f32 []float32) error {
	if s.f64 != nil {
		return s.state.Bind(s.i, f64)
	}
	return s.state.Bind32(s.i, f32)
}

// overlaps reports whether d shares memory with an output, as it does when a
// result is fed back.
func overlaps(d *gt.Dense, results []*result) bool {
	from := d.Uintptr()
	to := from + d.MemSize()
	for _, r := range results {
		if len(r.f64) > 0 {
			if lo := uintptr(unsafe.Pointer(&r.f64[0])); from < lo+uintptr(8*len(r.f64)) && lo < to {
				return true
			}
		}
		if len(r.f32) > 0 {
			if lo := uintptr(unsafe.Pointer(&r.f32[0])); from < lo+uintptr(4*len(r.f32)) && lo < to {
				return true
			}
		}
	}
	return false
}
