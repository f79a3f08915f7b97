// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"math"
	"math/bits"
	"sort"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels"
)

// run is pixels of a static bin that lie beside each other, both in a frame and in the list of the pixels of their bin.
type run struct{ pixel, place, n, static int }

// runs divides the pixels of a bin into as few runs as there are.
func (b *bin) runs() (all []run) {
	for i, p := range b.pixels {
		if k := len(all) - 1; k >= 0 && all[k].static == b.static[i] && all[k].pixel+all[k].n == p {
			all[k].n++
			continue
		}
		all = append(all, run{p, i, 1, b.static[i]})
	}
	return all
}

// Frames and pixels that are transposed into a panel at once, in the first cache.
const (
	abreast = 8
	across  = 256
)

// hold returns the counts of the pixels of a pass, divided by the means of their static bins, for one span after the
// other: (panel of frames, pixel, frame of the panel) for each depth of its pixels, with zeros for the frames that the last panel
// has beyond those of the movie. The first reading also sums intensities.
func hold[T real](ctx context.Context, t *twotime, pass []span, first bool, progress func(done int)) ([]T, error) {
	n, size := t.movie.Frames, t.movie.Height*t.movie.Width
	pixels := 0
	var starts []int
	for _, sp := range pass {
		starts = append(starts, pixels)
		pixels += sp.to - sp.from
		if sp.from == 0 {
			t.sums[sp.bin] = make([]float64, n)
		}
		if t.s.Ages {
			if t.levels == nil {
				t.levels = map[int][]float64{}
			}
			t.levels[sp.bin] = make([]float64, n)
		}
	}
	held := make([]T, pixels*t.padded())
	block := 1 << (bits.Len(uint(max(min(blockFrames, staging/(4*size)), 1))) - 1) // a power of two, so that panels begin with blocks
	frames := make([]float32, block*size)
	var events Events
	rows := make([][]T, t.s.threads())
	errs := make([]error, len(pass)*(block+abreast-1)/abreast)
	for done := 0; done < n; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some := min(block, n-done)
		if err := t.movie.frames(done, some, frames, &events); err != nil {
			return nil, err
		}
		if first && t.light != nil {
			t.light.add(frames[:some*size])
		}
		groups := (some + abreast - 1) / abreast
		errs = errs[:groups*len(pass)]
		parallel.Do(t.s.threads(), len(errs), func(who, k int) {
			if rows[who] == nil {
				rows[who] = make([]T, abreast*across)
			}
			i, from := k%len(pass), k/len(pass)*abreast
			errs[k] = gather(t, pass[i], held[starts[i]*t.padded():], rows[who], frames[from*size:], done+from, min(abreast, some-from))
		})
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		done += some
		progress(done)
	}
	return held, nil
}

// frames fills dense frames, from events if that is what the movie has.
func (m Movie) frames(first, n int, dst []float32, e *Events) error {
	size := m.Height * m.Width
	if m.Sparse == nil {
		return m.Dense(first, dst[:n*size])
	}
	if err := m.Sparse(first, n, e); err != nil {
		return err
	}
	if err := checkEvents(e, n, size, first); err != nil {
		return err
	}
	clear(dst[:n*size])
	for f := range n {
		for i := e.Start[f]; i < e.Start[f+1]; i++ {
			dst[f*size+int(e.Pixel[i])] = e.Count[i]
		}
	}
	return nil
}

// gather divides the pixels of a span of up to abreast frames by the means of their static bins. With the first pixels of a bin it
// sums the divided counts of all: a static bin with counts has as many as pixels.
func gather[T real](t *twotime, sp span, held, rows []T, frames []float32, first, some int) error {
	b, size := &t.bins[sp.bin], t.movie.Height*t.movie.Width
	inverse := make([]float64, some*len(b.count))
	for f := range some {
		frame, means := frames[f*size:][:size], inverse[f*len(b.count):][:len(b.count)]
		for _, r := range t.runs[sp.bin] {
			means[r.static] += summed(frame[r.pixel:][:r.n])
		}
		total, divided, counted := 0.0, 0.0, 0
		for s, c := range b.count {
			total += means[s]
			if mean := means[s] / float64(c); mean > 0 {
				means[s] = 1 / mean
				divided += float64(c)
				counted += c
			} else {
				divided += means[s]
				means[s] = 1
			}
		}
		if math.IsNaN(total) || math.IsInf(total, 0) {
			return t.bad(b, frame, first+f)
		}
		if t.s.Ages {
			t.levels[sp.bin][first+f] = float64(counted) / float64(len(b.pixels))
		}
		if sp.from == 0 {
			t.sums[sp.bin][first+f] = divided
		}
	}
	for from := sp.from; from < sp.to; from += depth {
		width := min(depth, sp.to-from)
		for p := from; p < from+width; p += across {
			n := min(across, from+width-p)
			for f := range some {
				divide(rows[f*n:][:n], frames[f*size:][:size], t.runs[sp.bin], p, inverse[f*len(b.count):])
			}
			at := (from-sp.from)*t.padded() + first/panel*panel*width + (p-from)*panel + first%panel
			transpose(held[at:], panel, rows, some, n)
		}
	}
	return nil
}

// divide writes the counts of the pixels of a bin from the place first on, times the factor of their static bin.
func divide[T real](to []T, frame []float32, runs []run, first int, inverse []float64) {
	k := sort.Search(len(runs), func(k int) bool { return runs[k].place+runs[k].n > first })
	for at := first; len(to) > 0; k++ {
		skip := at - runs[k].place
		n := min(runs[k].n-skip, len(to))
		times(to[:n], frame[runs[k].pixel+skip:][:n], inverse[runs[k].static])
		at, to = at+n, to[n:]
	}
}

// times writes counts times a factor, rounded once to the precision of T but for the last bits of the factor.
func times[T real](to []T, counts []float32, factor float64) {
	if narrow, ok := any(to).([]float32); ok && len(to) >= fewPixels {
		high := float32(factor)
		low := float32(factor - float64(high))
		kernels.Binary32(kernels.Best(), "mul_s")(&narrow[0], &counts[0], &low, len(to))
		kernels.Ternary32(kernels.Best(), "fma_s")(&narrow[0], &counts[0], &high, &narrow[0], len(to))
		return
	}
	for i, v := range counts {
		to[i] = T(float64(v) * factor)
	}
}

// transpose writes rows of width numbers into columns, of which each element is stride after the one before.
func transpose[T real](to []T, stride int, rows []T, n, width int) {
	switch to := any(to).(type) {
	case []float64:
		kernels.Transpose64(kernels.Best(), to, stride, any(rows).([]float64), width, n, width)
	case []float32:
		kernels.Transpose32(kernels.Best(), to, stride, any(rows).([]float32), width, n, width)
	}
}

func (t *twotime) bad(b *bin, frame []float32, number int) error {
	e := &FrameError{Frame: number}
	for _, p := range b.pixels {
		if v := float64(frame[p]); math.IsNaN(v) || math.IsInf(v, 0) {
			if e.Pixels == 0 {
				e.Row, e.Col = p/t.movie.Width, p%t.movie.Width
			}
			e.Pixels++
		}
	}
	return e
}
