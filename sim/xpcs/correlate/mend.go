// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"fmt"
	"math"
	"slices"
)

// Gate says which frames are bad. Frames with pixels in bins that have no count, see NoCount, are always
// bad.
type Gate struct {
	Skip []int   // numbers of bad frames, counted from 0
	Low  float64 // smallest mean counts per pixel in bins of a good frame. Default 0
	High float64 // largest mean counts per pixel in bins of a good frame. Default 0, for no limit
}

// Replacement is a frame that was replaced by another one.
type Replacement struct {
	Frame, By int
	Why       string
	Pixel     int     // first pixel in bins that has no count, as row * width + column; -1 if all have one
	Reading   float32 // reading of that pixel, NaN for the mark of a detector
}

// Mended is a movie whose bad frames are replaced.
type Mended struct {
	Movie
	gate  Gate
	skip  map[int]bool
	maps  Maps
	valid []int
	bad   map[int]Replacement
	one   Events
	room  []float32 // a frame that is not read as float32
}

// Mend returns a movie in which bad frames are replaced by frames about half the movie away, so that delays stay what they
// are. With a fraction f of frames replaced, g2 - 1 is too small by a factor of about 1 - 2 f where the sample forgets
// itself within half the movie.
func (m Movie) Mend(maps Maps, g Gate) (*Mended, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := maps.check(m); err != nil {
		return nil, err
	}
	if math.IsNaN(g.Low) || math.IsNaN(g.High) || g.High < 0 || g.High > 0 && g.High <= g.Low {
		return nil, fmt.Errorf("correlate: the gate keeps frames with means from %g to %g counts per pixel: want the second above the first, or 0", g.Low, g.High)
	}
	d := &Mended{Movie: m, gate: g, maps: maps, bad: map[int]Replacement{}, skip: map[int]bool{}}
	for _, frame := range g.Skip {
		if frame < m.Frames { // lists of ranges may be longer than the movie
			d.skip[frame] = true
		}
	}
	for i, s := range maps.Static {
		if s > 0 {
			d.valid = append(d.valid, i)
		}
	}
	if m.Raw != nil {
		d.Movie.Raw = &Raw{m.Raw.Type, m.Raw.Marks, func(first int, dst []byte) error { return d.raw(m.Raw, first, dst) }}
	}
	if m.Dense != nil {
		d.Movie.Dense = func(first int, dst []float32) error { return d.dense(m, first, dst) }
	}
	if m.Sparse != nil {
		d.Movie.Sparse = func(first, n int, dst *Events) error { return d.sparse(m, first, n, dst) }
	}
	return d, nil
}

// Replaced lists the frames that were replaced so far, in the order of frames.
func (d *Mended) Replaced() []Replacement {
	var all []Replacement
	for _, r := range d.bad {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Replacement) int { return a.Frame - b.Frame })
	return all
}

// why says what is wrong with a frame whose pixels in bins have a sum, or returns "".
func (d *Mended) why(frame int, sum float64) string {
	mean := sum / float64(len(d.valid))
	switch {
	case d.skip[frame]:
		return "asked for"
	case !(math.Abs(sum) <= mostCounts):
		return "pixels in bins have no count"
	case mean < d.gate.Low:
		return fmt.Sprintf("its mean is %.3g counts per pixel, below %g", mean, d.gate.Low)
	case d.gate.High > 0 && mean > d.gate.High:
		return fmt.Sprintf("its mean is %.3g counts per pixel, above %g", mean, d.gate.High)
	}
	return ""
}

func (d *Mended) sumOf(frame []float32) (sum float64) {
	for _, p := range d.valid {
		sum += float64(frame[p])
	}
	return sum
}

func (d *Mended) sumOfEvents(e *Events, f int) (sum float64) {
	for i := e.Start[f]; i < e.Start[f+1]; i++ {
		if p := int(e.Pixel[i]); p < len(d.maps.Static) && d.maps.Static[p] > 0 {
			sum += float64(e.Count[i])
		}
	}
	return sum
}

// mostCounts is the largest number of counts, 2^53, beyond which whole numbers and their sums are not exact.
const mostCounts = 1 << 53

// NoCount reports whether a reading cannot be a number of counts: it is not finite, as marks of detectors are when a file has been
// read, or beyond 2^53, where whole numbers are not exact.
func NoCount(v float32) bool { return !(math.Abs(float64(v)) <= mostCounts) }

// noCount names a pixel without a count and what was read there.
func (d *Mended) noCount(pixel int, reading float32) string {
	is := "NaN, infinite or the mark of the detector"
	if x := float64(reading); math.Abs(x) > mostCounts && !math.IsInf(x, 0) {
		is = fmt.Sprintf("%.6g and no count: counts are at most 2^53", x)
	}
	return fmt.Sprintf("row %d, column %d, which is %s", pixel/d.Width, pixel%d.Width, is)
}

// tries bounds how many frames are looked at to replace one.
const tries = 64

// other finds a good frame about half the movie away; sum reads one and returns the sum of its pixels in bins.
func (d *Mended) other(frame int, why string, pixel int, reading float32, sum func(other int) (float64, error)) error {
	if r, ok := d.bad[frame]; ok {
		_, err := sum(r.By)
		return err
	}
	for k := range min(tries, d.Frames-1) {
		by := (frame + d.Frames/2 + 37*k) % d.Frames
		if by == frame {
			continue
		}
		s, err := sum(by)
		if err != nil {
			return err
		}
		if d.why(by, s) == "" {
			d.bad[frame] = Replacement{frame, by, why, pixel, reading}
			return nil
		}
	}
	try := "widen the gate (--low, --high)"
	if d.skip[frame] {
		try = "skip fewer frames, or leave them out (--begin, --end)"
	}
	if pixel >= 0 {
		try = "mask such pixels (mask --image) and make the q map with them (qmap --mask), or leave out frames that hold nothing (--begin, --end)"
		why += ", the first at " + d.noCount(pixel, reading)
		if math.Abs(float64(reading)) > mostCounts {
			try += "; if all values are that large, divide them by what one photon counts"
		}
	}
	return fmt.Errorf("correlate: frame %d is not good (%s), nor are the %d frames that could replace it: %s", frame, why, min(tries, d.Frames-1), try)
}

// firstOf returns the first pixel in bins without a count, or -1, and its reading.
func (d *Mended) firstOf(value func(pixel int) float32) (pixel int, reading float32) {
	for _, p := range d.valid {
		if v := value(p); NoCount(v) {
			return p, v
		}
	}
	return -1, 0
}

func (d *Mended) dense(m Movie, first int, dst []float32) error {
	if err := m.Dense(first, dst); err != nil {
		return err
	}
	size := m.Height * m.Width
	for f := 0; f < len(dst)/size; f++ {
		frame := dst[f*size:][:size]
		if err := d.frame(first+f, frame, func(by int) error { return m.Dense(by, frame) }); err != nil {
			return err
		}
	}
	return nil
}

// frame looks at a frame and has read put another in its place if it is not good.
func (d *Mended) frame(number int, frame []float32, read func(by int) error) error {
	why := d.why(number, d.sumOf(frame))
	if why == "" {
		return nil
	}
	pixel, reading := d.firstOf(func(p int) float32 { return frame[p] })
	return d.other(number, why, pixel, reading, func(by int) (float64, error) {
		err := read(by)
		return d.sumOf(frame), err
	})
}

// raw looks at frames in the type of their file.
func (d *Mended) raw(m *Raw, first int, dst []byte) error {
	if err := m.Read(first, dst); err != nil {
		return err
	}
	size := d.Height * d.Width
	bytes := size * m.size()
	d.room = slices.Grow(d.room[:0], size)[:size]
	for f := 0; f < len(dst)/bytes; f++ {
		frame := dst[f*bytes:][:bytes]
		m.into(d.room, frame)
		err := d.frame(first+f, d.room, func(by int) error {
			err := m.Read(by, frame)
			m.into(d.room, frame)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *Mended) sparse(m Movie, first, n int, dst *Events) error {
	if err := m.Sparse(first, n, dst); err != nil {
		return err
	}
	if err := checkEvents(dst, n, m.Height*m.Width, first); err != nil {
		return err
	}
	for f := range n {
		why := d.why(first+f, d.sumOfEvents(dst, f))
		if why == "" {
			continue
		}
		pixel, reading := -1, float32(0)
		for i := dst.Start[f]; i < dst.Start[f+1] && pixel < 0; i++ {
			if p := int(dst.Pixel[i]); NoCount(dst.Count[i]) && d.maps.Static[p] > 0 {
				pixel, reading = p, dst.Count[i]
			}
		}
		err := d.other(first+f, why, pixel, reading, func(by int) (float64, error) {
			if err := m.Sparse(by, 1, &d.one); err != nil {
				return 0, err
			}
			return d.sumOfEvents(&d.one, 0), checkEvents(&d.one, 1, m.Height*m.Width, by)
		})
		if err != nil {
			return err
		}
		from, to := dst.Start[f], dst.Start[f+1]
		dst.Pixel = slices.Replace(dst.Pixel, from, to, d.one.Pixel...)
		dst.Count = slices.Replace(dst.Count, from, to, d.one.Count...)
		for i := f + 1; i < len(dst.Start); i++ {
			dst.Start[i] += len(d.one.Pixel) - (to - from)
		}
	}
	return nil
}
