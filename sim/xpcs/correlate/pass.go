// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/parallel"
)

// pass reads a movie once and keeps sums of the pixels of a part.
type pass[T real] struct {
	s      Settings
	movie  Movie
	maps   *Maps
	part   part
	tiles  int
	lookup []int32     // place of each pixel of a frame in the part, or -1
	ranges [][]stretch // of the pixels of each tile
	valid  []stretch   // of the pixels of static bins, whether they are in the part or not
	count  int         // number of pixels of static bins

	sparse  *sparse // nil if frames are dense
	dense   *dense[T]
	workers []*worker[T]

	done  int       // frames so far
	total []float64 // sum of each pixel of the part, normalised if asked for
	raw   []float64 // sum of each pixel of the part as it was; total if frames are not normalised
	rest  []float64 // sums of all pixels that are not in a static bin, (Height, Width); nil: not asked for
	trace []float64 // mean of the valid pixels of each frame

	frames []float32 // dense frames of a block
	events Events    // events of a block
	some   Events    // events of a part of a block
	scale  []float64 // what multiplies each frame of a block
}

// staging is the memory for dense frames of a block in bytes.
const staging = 256 << 20

// occupancy returns the largest share of pixels that are not 0 among frames from several places of a movie, which may begin in the dark.
func occupancy(m Movie) (float64, error) {
	const places = 8
	size := m.Height * m.Width
	each, most := 1, 0.0
	if m.Sparse != nil {
		each = min(8, (m.Frames+places-1)/places)
	}
	var e Events
	frame := []float32(nil)
	for k := range min(places, m.Frames) {
		first := k * (m.Frames - each) / max(min(places, m.Frames)-1, 1)
		counts := 0
		if m.Sparse != nil {
			if err := m.Sparse(first, each, &e); err != nil {
				return 0, err
			}
			counts = len(e.Pixel)
		} else {
			frame = slices.Grow(frame[:0], size)[:size]
			if err := m.Dense(first, frame); err != nil {
				return 0, err
			}
			for _, v := range frame {
				if v != 0 {
					counts++
				}
			}
		}
		most = max(most, float64(counts)/float64(each*size))
	}
	return most, nil
}

// layout chooses how frames are worked on: the number of levels of event lists, 0 if none, and how many frames
// make a block. occupied is the share of pixels that are not 0.
func layout(m Movie, occupied float64, s Settings, delays []Delay) (levels, block int) {
	size := m.Height * m.Width
	last := delays[len(delays)-1].Level
	for levels <= last && levels < 12 && occupied*float64(int(1)<<levels) < 0.1 {
		levels++
	}
	if s.levels != 0 {
		levels = min(s.levels, last+1)
	}
	if levels < 2 {
		return 0, max(min(blockFrames, staging/(4*size)), 1)
	}
	block = blockFrames << levels
	most := int(4e6 / max(occupied*float64(size), 1))
	for block > 1 && block > most {
		block /= 2
	}
	return levels, block
}

// crowded is the error of a pass that works on lists of events and finds many more than the frames that were looked at have.
type crowded struct{ events, frames int }

func (c *crowded) Error() string {
	return fmt.Sprintf("correlate: %s %s %s", errtext.Count(c.frames, "frame"), errtext.Agree(c.frames, "has", "have"), errtext.Count(c.events, "event"))
}

// crowd is the number of events beyond one for each pixel above which a pass is crowded.
const crowd = 16 << 20

// room returns an error if events of some frames are too many to be kept as lists.
func (a *pass[T]) room(events, frames int) error {
	most := a.s.crowd
	if most == 0 {
		most = crowd + a.movie.Height*a.movie.Width
	}
	if events > most {
		return &crowded{events, frames}
	}
	return nil
}

func newPass[T real](m Movie, maps *Maps, p part, levels int, s Settings) (*pass[T], error) {
	a := &pass[T]{s: s, movie: m, maps: maps, part: p, tiles: (len(p.pixels) + tile - 1) / tile}
	a.lookup = make([]int32, m.Height*m.Width)
	for i := range a.lookup {
		a.lookup[i] = -1
		if maps.Static[i] > 0 {
			a.valid, a.count = extended(a.valid, int32(i)), a.count+1
		}
	}
	for at := 0; at < len(p.pixels); at += tile {
		var list []stretch
		for _, i := range p.pixels[at:min(at+tile, len(p.pixels))] {
			list = extended(list, i)
		}
		a.ranges = append(a.ranges, list)
	}
	for i, at := range p.pixels {
		a.lookup[at] = int32(i)
	}
	a.total = make([]float64, a.tiles*tile)
	if a.raw = a.total; s.Normalize {
		a.raw = make([]float64, a.tiles*tile)
	}
	if levels > 0 {
		a.sparse = newSparse(a.tiles, levels, s.PerLevel)
	}
	var err error
	a.dense, err = newDense[T](a.tiles, levels, s.PerLevel, m.Frames, s)
	if err != nil {
		return nil, err
	}
	for range s.threads() {
		a.workers = append(a.workers, a.dense.worker())
	}
	return a, nil
}

// run reads the frames up to end in blocks.
func (a *pass[T]) run(ctx context.Context, end, block int, progress func(n int)) error {
	for a.done < end {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(block, end-a.done)
		if err := a.read(n); err != nil {
			return err
		}
		var err error
		if a.sparse != nil {
			err = a.addEvents(n)
		} else {
			err = a.addFrames(n)
		}
		if err != nil {
			return err
		}
		a.done += n
		progress(n)
	}
	return a.dense.flush(a.workers, a.tiles)
}

// read reads n frames, as events or as arrays, whichever the pass works on, and takes their means.
func (a *pass[T]) read(n int) error {
	size := a.movie.Height * a.movie.Width
	if a.movie.Sparse != nil {
		if err := a.readEvents(n, size); err != nil {
			return err
		}
		if a.sparse == nil {
			a.frames = slices.Grow(a.frames[:0], n*size)[:n*size]
			clear(a.frames)
			for f := range n {
				for i := a.events.Start[f]; i < a.events.Start[f+1]; i++ {
					a.frames[f*size+int(a.events.Pixel[i])] = a.events.Count[i]
				}
			}
		}
	} else if a.sparse != nil {
		a.events.Reset()
		for at := 0; at < n; {
			some := min(n-at, max(staging/(4*size), 1))
			a.frames = slices.Grow(a.frames[:0], some*size)[:some*size]
			if err := a.movie.Dense(a.done+at, a.frames); err != nil {
				return err
			}
			a.events.Gather(a.frames, size)
			at += some
			if err := a.room(len(a.events.Pixel), at); err != nil {
				return err
			}
		}
	} else {
		a.frames = slices.Grow(a.frames[:0], n*size)[:n*size]
		if err := a.movie.Dense(a.done, a.frames); err != nil {
			return err
		}
	}
	return a.means(n, size)
}

// atOnce is the largest number of frames whose events are asked for at a time.
const atOnce = 4096

// readEvents reads the events of n frames.
func (a *pass[T]) readEvents(n, size int) error {
	a.events.Reset()
	to := &a.events
	if n > atOnce {
		to = &a.some
	}
	for at := 0; at < n; {
		some := min(n-at, atOnce)
		if err := a.movie.Sparse(a.done+at, some, to); err != nil {
			return err
		}
		if err := checkEvents(to, some, size, a.done+at); err != nil {
			return err
		}
		if to != &a.events {
			a.events.Join(to)
		}
		if at += some; a.sparse != nil {
			if err := a.room(len(a.events.Pixel), at); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkEvents makes sure that the events of n frames of size pixels, from first on, can be used as indices.
func checkEvents(e *Events, n, size, first int) error {
	if e.Frames() != n || len(e.Count) != len(e.Pixel) || e.Start[0] != 0 || e.Start[n] != len(e.Pixel) || !slices.IsSorted(e.Start) {
		return fmt.Errorf("correlate: the source of frames %d to %d returned lists of %d frames: correct the reader", first, first+n, e.Frames())
	}
	for f := range n {
		for _, p := range e.Pixel[e.Start[f]:e.Start[f+1]] {
			if int(p) >= size {
				return fmt.Errorf("correlate: frame %d has an event at pixel %d of %d: compare the size of the frames with the file", first+f, p, size)
			}
		}
	}
	return nil
}

// FrameError says that a frame has pixels that are not finite numbers.
type FrameError struct {
	Frame    int // number of the frame in the selection, counted from 0
	Row, Col int // place of the first such pixel
	Pixels   int // number of such pixels in bins
}

// Error names the frame and says what to do.
func (e *FrameError) Error() string {
	return fmt.Sprintf("correlate: frame %d has %s in bins that %s, the first at row %d, column %d: mask them, or leave the frame out by First and Last", e.Frame, errtext.Count(e.Pixels, "pixel"), errtext.Agree(e.Pixels, "is not a finite number", "are not finite numbers"), e.Row, e.Col)
}

// means takes the mean of each frame over the valid pixels, and what normalises it.
func (a *pass[T]) means(n, size int) error {
	a.scale = slices.Grow(a.scale[:0], n)[:n]
	first := len(a.trace)
	a.trace = append(a.trace, make([]float64, n)...)
	parallel.Do(a.s.threads(), n, func(_, f int) {
		sum := 0.0
		if a.sparse != nil {
			for i := a.events.Start[f]; i < a.events.Start[f+1]; i++ {
				if a.maps.Static[a.events.Pixel[i]] > 0 {
					sum += float64(a.events.Count[i])
				}
			}
		} else {
			sum = sumAt(a.frames[f*size:][:size], a.valid)
		}
		a.trace[first+f] = sum / float64(a.count)
	})
	for f := range n {
		mean := a.trace[first+f]
		if math.IsNaN(mean) || math.IsInf(mean, 0) {
			return a.bad(f, size)
		}
		if a.scale[f] = 1; a.s.Normalize && mean != 0 {
			a.scale[f] = 1 / mean
		}
	}
	return nil
}

// bad describes frame f of the block, whose sum is not finite.
func (a *pass[T]) bad(f, size int) error {
	e := &FrameError{Frame: a.done + f}
	look := func(p int, v float32) {
		if x := float64(v); a.maps.Static[p] > 0 && (math.IsNaN(x) || math.IsInf(x, 0)) {
			if e.Pixels == 0 {
				e.Row, e.Col = p/a.maps.Width, p%a.maps.Width
			}
			e.Pixels++
		}
	}
	if a.sparse != nil {
		for i := a.events.Start[f]; i < a.events.Start[f+1]; i++ {
			look(int(a.events.Pixel[i]), a.events.Count[i])
		}
	} else {
		for p, v := range a.frames[f*size:][:size] {
			look(p, v)
		}
	}
	return e
}

// addFrames adds the dense frames of a block.
func (a *pass[T]) addFrames(n int) error {
	size := a.movie.Height * a.movie.Width
	errs := make([]error, len(a.workers))
	parallel.Do(len(a.workers), a.tiles, func(who, at int) {
		w := a.workers[who]
		fresh := w.fresh[0]
		for f := range n {
			frame, to, scale := a.frames[f*size:][:size], fresh[f*tile:][:tile], T(a.scale[f])
			for _, r := range a.ranges[at] {
				multiplied(to[:r.n], frame[r.first:][:r.n], scale)
				to = to[r.n:]
			}
			clear(to)
		}
		var raw []float64
		if a.s.Normalize {
			raw = a.raw
			for f, scale := range a.scale {
				a.dense.means(w)[f] = T(1 / scale)
			}
		}
		if err := a.dense.add(w, at, n, a.total, raw); err != nil {
			errs[who] = err
		}
	})
	a.dense.advance(n)
	if a.rest != nil {
		a.addRest(n, size)
	}
	return first(errs)
}

func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// addRest adds the pixels without a bin to the image.
func (a *pass[T]) addRest(n, size int) {
	parallel.Do(a.s.threads(), a.movie.Height, func(_, row int) {
		for i := row * a.movie.Width; i < (row+1)*a.movie.Width; i++ {
			if a.maps.Static[i] > 0 {
				continue
			}
			for f := range n {
				a.rest[i] += float64(a.frames[f*size+i])
			}
		}
	})
}

// addEvents adds the events of a block. Every goroutine sorts the events of its own tiles by pixel.
func (a *pass[T]) addEvents(n int) error {
	from, to := a.done, a.done+n
	threads := min(len(a.workers), a.tiles)
	errs := make([]error, threads)
	if a.rest != nil {
		for i, p := range a.events.Pixel {
			if a.maps.Static[p] == 0 {
				a.rest[p] += float64(a.events.Count[i])
			}
		}
	}
	rows := to>>a.sparse.levels - from>>a.sparse.levels
	parallel.Do(threads, threads, func(_, who int) {
		low, high := who*a.tiles/threads*tile, (who+1)*a.tiles/threads*tile
		start, time, count := a.sorted(low, high)
		w := a.workers[who]
		var l list
		var keep history
		for at := low / tile; at < high/tile; at++ {
			var fresh []T
			if len(a.dense.levels) > 0 && rows > 0 {
				fresh = w.fresh[0]
				clear(fresh[:rows*tile])
			}
			h := &a.sparse.recent[at]
			keep.start, keep.time, keep.count = append(keep.start[:0], 0), keep.time[:0], keep.count[:0]
			for j := range tile {
				p := at*tile + j
				b, e := start[p-low], start[p-low+1]
				l.join(h, j, time[b:e], count[b:e])
				for i, t := range l.time {
					if int(t) >= to-a.sparse.reach() {
						keep.time, keep.count = append(keep.time, t), append(keep.count, l.count[i])
					}
				}
				keep.start = append(keep.start, int32(len(keep.time)))
				if len(l.time) == 0 {
					continue
				}
				for i := b; i < e; i++ {
					a.total[p] += count[i]
				}
				a.sparse.pixel(p, &l, from, to)
				for i, t := range l.time {
					if row := int(t) - from>>a.sparse.levels; fresh != nil && row >= 0 && row < rows {
						fresh[row*tile+j] = T(l.count[i])
					}
				}
			}
			*h, keep = keep, *h
			if fresh != nil {
				if err := a.dense.add(w, at, rows, nil, nil); err != nil {
					errs[who] = err
				}
			}
		}
	})
	a.dense.advance(rows)
	a.sparse.frames = to
	if err := first(errs); err != nil {
		return err
	}
	kept := 0
	for i := range a.sparse.recent {
		kept += len(a.sparse.recent[i].time)
	}
	return a.room(kept, min(to, a.sparse.reach()))
}

// sorted returns the events of the pixels low to high of the part by pixel, in the order of time, normalised. The
// sums of the counts as they were join raw.
func (a *pass[T]) sorted(low, high int) (start, time []int32, count []float64) {
	start = make([]int32, high-low+1)
	for _, p := range a.events.Pixel {
		if i := int(a.lookup[p]) - low; i >= 0 && i < high-low {
			start[i+1]++
		}
	}
	for i := range high - low {
		start[i+1] += start[i]
	}
	time, count = make([]int32, start[high-low]), make([]float64, start[high-low])
	next := slices.Clone(start)
	for f := range a.events.Frames() {
		scale := a.scale[f]
		for i := a.events.Start[f]; i < a.events.Start[f+1]; i++ {
			p := int(a.lookup[a.events.Pixel[i]]) - low
			if p < 0 || p >= high-low {
				continue
			}
			c := float64(a.events.Count[i])
			if a.s.Normalize {
				a.raw[low+p] += c
			}
			time[next[p]], count[next[p]] = int32(a.done+f), c*scale
			next[p]++
		}
	}
	return start, time, count
}
