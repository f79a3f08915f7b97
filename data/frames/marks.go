// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"fmt"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Detectors mark pixels that have no count: Dectris' by the largest number of an unsigned type, Pilatus' by -1 and -2 in signed ones.
// In types of several bytes no count comes near the largest number. In one byte 255 may be a count, and a signed number may be what a
// background left below 0. There the file decides: a mark stands in the same pixels in every frame.

// Classes of numbers by what may be a mark.
const (
	unmarked = iota
	oneByte  // unsigned numbers of one byte, of which 255 may be a mark
	signed   // integers, of which -1 and -2 may be marks
)

// markable is a source of numbers whose marks the frames decide.
type markable interface {
	// class returns the class of the numbers.
	class() int
	// mark makes numbers for which is is true NaN from now on.
	mark(is func(v float32) bool)
}

var (
	_ markable = (*stack)(nil)
	_ markable = (*raw)(nil)
)

// findMarks looks at the first, the middle and the last frame.
func (f *File) findMarks() {
	s, ok := f.source.(markable)
	if !ok || f.Frames < 1 || s.class() == unmarked {
		return
	}
	is, name := func(v float32) bool { return v == 255 }, "255"
	if s.class() == signed {
		is, name = func(v float32) bool { return v < 0 }, "a number below 0"
	} else if f.Frames < 3 {
		return // a few frames may well have the same count of 255
	}
	pixels := f.Height * f.Width
	always := make([]bool, pixels)
	for i := range always {
		always[i] = true
	}
	frame, looked := make([]float32, pixels), false
	for _, at := range []int{0, f.Frames / 2, f.Frames - 1} {
		if f.source.dense(at, frame) != nil {
			return // whoever reads the frames learns why
		}
		if frame[0] != frame[0] { // no number of these classes is NaN: the frame is missing
			continue
		}
		looked = true
		for i, v := range frame {
			if s.class() == signed && v < -2 {
				return // a background was subtracted
			}
			always[i] = always[i] && is(v)
		}
	}
	n := 0
	for _, a := range always {
		if a {
			n++
		}
	}
	if n == 0 || !looked {
		return
	}
	s.mark(is)
	f.Marked = fmt.Sprintf("%s of %d %s %s in every frame that was looked at, which marks pixels without a count: they are taken as bad", errtext.Count(n, "pixel"), pixels, errtext.Agree(n, "is", "are"), name)
}

// withoutMarks makes marks NaN.
func withoutMarks(v []float32, is func(v float32) bool) {
	if is == nil {
		return
	}
	for i, x := range v {
		if is(x) {
			v[i] = nan
		}
	}
}

func (st *stack) mark(is func(v float32) bool) {
	st.marked = is
	st.floats.forget()
}

func (st *stack) class() int {
	t := st.sets[0].Type()
	switch {
	case t.Class != hdf5.Int:
		return unmarked
	case t.Signed:
		return signed
	case t.Size == 1:
		return oneByte
	}
	return unmarked
}

func (r *raw) mark(is func(v float32) bool) { r.marked = is }

func (r *raw) class() int { return r.typ.class }
