// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"math"
	"math/bits"
	"sort"
	"sync/atomic"

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

// held is the frames of the pixels of a span: divided counts, or the counts of slabs.
type held[T real] struct {
	t *twotime
	span
	divided []T // (panel of frames, pixel, frame of the panel) for each depth of the pixels, with zeros for the frames that the last panel has beyond those of the movie
	slabs   []slab
	words   []uint32
	bits    atomic.Uint32 // that any count has
}

// fill divides the counts of up to abreast frames; it needs memory for their rows.
func (h *held[T]) fill(rows []T, frames []float32, first, some int) {
	t, n := h.t, h.t.movie.Frames
	factors, size := t.factors[h.bin], t.movie.Height*t.movie.Width
	for from := h.from; from < h.to; from += depth {
		width := min(depth, h.to-from)
		for p := from; p < from+width; p += across {
			m := min(across, from+width-p)
			for f := range some {
				divide(rows[f*m:][:m], frames[f*size:][:size], t.runs[h.bin], p, factors[first+f:], n)
			}
			at := (from-h.from)*t.padded() + first/panel*panel*width + (p-from)*panel + first%panel
			transpose(h.divided[at:], panel, rows, some, m)
		}
	}
}

// hold reads the frames of the pixels of a pass. The first reading also sums intensities.
func hold[T real](ctx context.Context, t *twotime, pass []span, first bool, progress func(done int)) ([]held[T], error) {
	n, size := t.movie.Frames, t.movie.Height*t.movie.Width
	all := make([]held[T], len(pass))
	slabs, counting := t.counting(pass)
	for i, sp := range pass {
		all[i].t, all[i].span = t, sp
		if counting {
			all[i].slabs = slabs[i]
			last := all[i].slabs[len(all[i].slabs)-1]
			all[i].words = make([]uint32, (last.before+last.words)*t.padded())
		} else {
			all[i].divided = make([]T, (sp.to-sp.from)*t.padded())
		}
		t.factors[sp.bin] = make([]float64, len(t.bins[sp.bin].count)*n)
		if sp.from == 0 {
			t.sums[sp.bin] = make([]float64, n)
		}
		if t.s.Ages {
			t.levels[sp.bin] = make([]float64, n)
		}
	}
	block := 1 << (bits.Len(uint(max(min(blockFrames, staging/(4*size)), 1))) - 1) // a power of two, so that panels begin with blocks
	frames := make([]float32, block*size)
	var events Events
	rows, words := make([][]T, t.s.threads()), make([][]uint32, t.s.threads())
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
		errs := make([]error, groups*len(pass))
		refused := make([]bool, len(pass)*groups)
		parallel.Do(t.s.threads(), len(errs), func(who, k int) {
			if rows[who] == nil {
				rows[who], words[who] = make([]T, abreast*across), make([]uint32, abreast*depth)
			}
			h, from := &all[k%len(pass)], k/len(pass)*abreast
			part, first, some := frames[from*size:], done+from, min(abreast, some-from)
			if errs[k] = t.means(h.span, part, first, some); errs[k] != nil {
				return
			}
			if h.divided == nil {
				refused[k] = !h.count(words[who], part, first, some)
			} else {
				h.fill(rows[who], part, first, some)
			}
		})
		for k, err := range errs {
			if err != nil {
				return nil, err
			}
			if h := &all[k%len(pass)]; refused[k] && h.divided == nil {
				h.divide(done)
				memory := make([]T, abreast*across)
				for from := 0; from < some; from += abreast {
					h.fill(memory, frames[from*size:], done+from, min(abreast, some-from))
				}
			}
		}
		done += some
		progress(done)
	}
	return all, nil
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

// means finds the factors by which counts of up to abreast frames are divided, the inverse means of the static bins of a span. With the first pixels of a bin it
// sums the divided counts of all: a static bin with counts has as many as pixels.
func (t *twotime) means(sp span, frames []float32, first, some int) error {
	b, size, n := &t.bins[sp.bin], t.movie.Height*t.movie.Width, t.movie.Frames
	means := make([]float64, len(b.count))
	for f := range some {
		frame := frames[f*size:][:size]
		clear(means)
		for _, r := range t.runs[sp.bin] {
			means[r.static] += summed(frame[r.pixel:][:r.n])
		}
		total, divided, counted := 0.0, 0.0, 0
		for s, c := range b.count {
			factor := 1.0
			if mean := means[s] / float64(c); mean > 0 {
				factor = 1 / mean
				divided += float64(c)
				counted += c
			} else {
				divided += means[s]
			}
			total += means[s]
			t.factors[sp.bin][s*n+first+f] = factor
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
	return nil
}

// divide writes the counts of the pixels of a bin from the place first on, times the factor of their static bin; those of static bins lie stride apart.
func divide[T real](to []T, frame []float32, runs []run, first int, factors []float64, stride int) {
	k := sort.Search(len(runs), func(k int) bool { return runs[k].place+runs[k].n > first })
	for at := first; len(to) > 0; k++ {
		skip := at - runs[k].place
		n := min(runs[k].n-skip, len(to))
		times(to[:n], frame[runs[k].pixel+skip:][:n], factors[runs[k].static*stride])
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
