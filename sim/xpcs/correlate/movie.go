// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor/events"
)

// Movie is a sequence of frames of one detector. One of Dense, Sparse and Raw must be set; where
// Sparse is, it is used. They are called by one goroutine at a time.
type Movie struct {
	Frames        int // number of frames
	Height, Width int // pixels of a frame

	// Dense writes frames first, first+1, ... one after another to dst, each row-major
	// (Height, Width), until dst is full.
	Dense func(first int, dst []float32) error
	// Sparse replaces the contents of dst by the events of n frames.
	Sparse func(first, n int, dst *Events) error
	// Raw reads the dense frames in the type of their file, which takes GPUs less time. It may be
	// nil; if Dense is nil, Raw is also used on the CPU.
	Raw *Raw
}

// Events lists the pixels of some frames that are not 0.
type Events = events.List

// FromArray makes a Movie from frames in memory, of shape (frames, height, width).
func FromArray(data []float32, frames, height, width int) Movie {
	size := height * width
	return Movie{Frames: frames, Height: height, Width: width, Dense: func(first int, dst []float32) error {
		if have := len(data) - first*size; len(dst) > have {
			return fmt.Errorf("correlate: the array ends %d elements before the end of %d frames of %d x %d pixels: lower the number of frames", len(dst)-have, frames, height, width)
		}
		copy(dst, data[first*size:])
		return nil
	}}
}

func (m Movie) check() error {
	switch {
	case m.Frames == 1:
		return errors.New("correlate: the movie has 1 frame, but a correlation needs at least 2")
	case m.Frames < 2:
		return fmt.Errorf("correlate: the movie has %s, but a correlation needs at least 2", errtext.Count(m.Frames, "frame"))
	case m.Height < 1 || m.Width < 1 || m.Height > 1<<31/max(m.Width, 1):
		return fmt.Errorf("correlate: the frames have %d x %d pixels: want at least 1 x 1 and at most 2^31 pixels", m.Height, m.Width)
	case m.Frames > 1<<30:
		return fmt.Errorf("correlate: the movie has %d frames: want at most 2^30", m.Frames)
	case m.Dense == nil && m.Sparse == nil && m.Raw == nil:
		return errors.New("correlate: the movie has no frames to read: set Dense, Sparse or Raw")
	case m.Raw != nil && m.Raw.size() == 0:
		return fmt.Errorf("correlate: the frames are of the type %q: want uint8, uint16, uint32 or float32", m.Raw.Type)
	}
	return nil
}

// Selection is a part of a movie. The zero value is all of it.
type Selection struct {
	First   int // first frame, counted from 0
	Last    int // frame after the last one. Default 0, for the end
	Stride  int // distance between frames that are taken. Default 1
	Average int // number of taken frames that are averaged into one. Default 1
}

// Span returns the number of frames of the movie that make one frame of the selection.
func (s Selection) Span() int { return max(s.Stride, 1) * max(s.Average, 1) }

// Select returns a part of m, whose frames are means of Average frames, Stride apart. Frames at the end
// that do not fill a mean are left out.
func (m Movie) Select(s Selection) (Movie, error) {
	if s.Last <= 0 {
		s.Last += m.Frames
	}
	s.Stride, s.Average = max(s.Stride, 1), max(s.Average, 1)
	if m.Dense == nil && m.Raw != nil {
		m.Dense = m.Raw.dense(m.Height * m.Width)
	}
	if s.First < 0 || s.First >= m.Frames || s.Last > m.Frames || s.Last <= s.First {
		return m, fmt.Errorf("correlate: frames %d to %d are not all in a movie of %d frames: want 0 <= first < last <= %d", s.First, s.Last, m.Frames, m.Frames)
	}
	taken := (s.Last - s.First + s.Stride - 1) / s.Stride / s.Average
	if taken < 2 {
		return m, fmt.Errorf("correlate: frames %d to %d with stride %d and averages of %d leave %s, but a correlation needs at least 2", s.First, s.Last, s.Stride, s.Average, errtext.Count(taken, "frame"))
	}
	out := m
	out.Frames = taken
	if s.Stride == 1 && s.Average == 1 {
		out.Dense = shifted(m.Dense, s.First)
		if m.Sparse != nil {
			out.Sparse = func(first, n int, dst *Events) error { return m.Sparse(s.First+first, n, dst) }
		}
		if m.Raw != nil {
			out.Raw = &Raw{m.Raw.Type, m.Raw.Marks, func(first int, dst []byte) error { return m.Raw.Read(s.First+first, dst) }}
		}
		return out, nil
	}
	out.Raw = nil // means are float32
	r := reducer{m: m, s: s}
	if m.Dense != nil {
		out.Dense = r.dense
	}
	if m.Sparse != nil {
		out.Sparse = r.sparse
	}
	return out, nil
}

func shifted(read func(int, []float32) error, by int) func(int, []float32) error {
	if read == nil {
		return nil
	}
	return func(first int, dst []float32) error { return read(by+first, dst) }
}

// reducer averages frames.
type reducer struct {
	m      Movie
	s      Selection
	frame  []float32
	events Events
	sum    map[uint32]float32
}

func (r *reducer) dense(first int, dst []float32) error {
	size := r.m.Height * r.m.Width
	r.frame = slices.Grow(r.frame[:0], size)[:size]
	for at := 0; at < len(dst); at, first = at+size, first+1 {
		to := dst[at : at+size]
		clear(to)
		for k := range r.s.Average {
			if err := r.m.Dense(r.s.First+(first*r.s.Average+k)*r.s.Stride, r.frame); err != nil {
				return err
			}
			for i, v := range r.frame {
				to[i] += v
			}
		}
		for i := range to {
			to[i] /= float32(r.s.Average)
		}
	}
	return nil
}

func (r *reducer) sparse(first, n int, dst *Events) error {
	dst.Reset()
	if r.sum == nil {
		r.sum = map[uint32]float32{}
	}
	for j := first; j < first+n; j++ {
		clear(r.sum)
		for k := range r.s.Average {
			if err := r.m.Sparse(r.s.First+(j*r.s.Average+k)*r.s.Stride, 1, &r.events); err != nil {
				return err
			}
			for i, p := range r.events.Pixel {
				r.sum[p] += r.events.Count[i]
			}
		}
		from := len(dst.Pixel)
		for p := range r.sum {
			dst.Pixel = append(dst.Pixel, p)
		}
		slices.Sort(dst.Pixel[from:])
		for _, p := range dst.Pixel[from:] {
			dst.Count = append(dst.Count, r.sum[p]/float32(r.s.Average))
		}
		dst.End()
	}
	return nil
}
