// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"unsafe"

	"github.com/euryale-dev/euryale/kernels"
)

// Frames of photons are whole numbers, mostly below 128. A pass that has no others is held as bytes, four in a word, in place of divided counts: a product of
// two frames over the pixels of a static bin is then an exact sum of whole numbers, by which the inverse means of both frames are multiplied.

// perWord is the number of counts of a word.
const perWord = 4

// leastOfBin is the mean number of pixels of static bins from which products of counts, which are scaled bin by bin, are faster.
const leastOfBin = 32

// slab is up to depth pixels of a span. A row of it is the words of one frame, those of one static bin beside each other and with zeros up to a whole word.
type slab struct {
	from, pixels int // place of the first in the list of the bin, and their number
	words        int // of a row
	before       int // words of the rows of the slabs before
	runs         []countRun
	parts        []countPart
}

// countRun is a run whose counts begin at a byte of the row.
type countRun struct {
	run
	at int
}

// countPart is words of a row that belong to one static bin.
type countPart struct{ static, from, words int }

// slabs divides a span.
func (t *twotime) slabs(sp span) (all []slab) {
	b, before := &t.bins[sp.bin], 0
	for from := sp.from; from < sp.to; from += depth {
		c := slab{from: from, pixels: min(depth, sp.to-from), before: before}
		place, number := make([]int, len(b.count)), make([]int, len(b.count))
		for _, s := range b.static[from : from+c.pixels] {
			number[s]++
		}
		for s, n := range number {
			if n > 0 {
				p := countPart{s, c.words, (n + perWord - 1) / perWord}
				c.parts, place[s] = append(c.parts, p), perWord*p.from
				c.words += p.words
			}
		}
		for _, r := range t.runs[sp.bin] {
			skip := max(from-r.place, 0)
			if r.n = min(r.n, from+c.pixels-r.place) - skip; r.n > 0 {
				r.pixel, r.place = r.pixel+skip, r.place+skip
				c.runs = append(c.runs, countRun{r, place[r.static]})
				place[r.static] += r.n
			}
		}
		before += c.words
		all = append(all, c)
	}
	return all
}

// counting returns the slabs of the spans of a pass and reports whether it is worth while to hold it as counts.
func (t *twotime) counting(pass []span) (slabs [][]slab, worth bool) {
	pixels, parts := 0, 0
	for _, sp := range pass {
		slabs = append(slabs, t.slabs(sp))
		for _, c := range slabs[len(slabs)-1] {
			pixels, parts = pixels+c.pixels, parts+len(c.parts)
		}
	}
	return slabs, kernels.Counting(kernels.Best()) && pixels >= leastOfBin*parts
}

// panels are the counts of a slab, (panel of frames, word of a row, frame of the panel).
func (h *held[T]) panels(c *slab) []uint32 {
	return h.words[c.before*h.t.padded():][:c.words*h.t.padded()]
}

// count writes the counts of up to abreast frames, of which the first has a number, and reports whether they are counts. It needs memory for their rows.
func (h *held[T]) count(rows []uint32, frames []float32, first, some int) bool {
	size, bits := h.t.movie.Height*h.t.movie.Width, 0
	for k := range h.slabs {
		c := &h.slabs[k]
		words := rows[:some*c.words]
		clear(words)
		counts := bytesOf(words)
		for f := range some {
			frame, row := frames[f*size:][:size], counts[perWord*f*c.words:]
			for _, r := range c.runs {
				b, ok := kernels.Counts(kernels.Best(), row[r.at:][:r.n], frame[r.pixel:][:r.n])
				if bits |= b; !ok {
					return false
				}
			}
		}
		at := first/panel*panel*c.words + first%panel
		kernels.Transpose32(kernels.Best(), bitsOf(h.panels(c)[at:]), panel, bitsOf(words), c.words, some, c.words)
	}
	h.bits.Or(uint32(bits))
	return true
}

// rows returns the counts of some frames of a panel as rows; it needs memory for them.
func (h *held[T]) rows(memory []uint32, c *slab, first, some int) []byte {
	words := memory[:some*c.words]
	at := first/panel*panel*c.words + first%panel
	kernels.Transpose32(kernels.Best(), bitsOf(words), c.words, bitsOf(h.panels(c)[at:]), panel, c.words, some)
	return bytesOf(words)
}

// divide turns the counts of the frames before one into divided counts, as if they had been held so.
func (h *held[T]) divide(before int) {
	size := h.t.movie.Height * h.t.movie.Width
	h.divided = make([]T, (h.to-h.from)*h.t.padded())
	frames, memory, rows := make([]float32, abreast*size), make([]uint32, abreast*depth), make([]T, abreast*across)
	for first := 0; first < before; first += abreast {
		some := min(abreast, before-first)
		for k := range h.slabs {
			c := &h.slabs[k]
			counts := h.rows(memory, c, first, some)
			for f := range some {
				for _, r := range c.runs {
					for i, v := range counts[perWord*f*c.words+r.at:][:r.n] {
						frames[f*size+r.pixel+i] = float32(v)
					}
				}
			}
		}
		h.fill(rows, frames, first, some)
	}
	h.words, h.slabs = nil, nil
}

// dividedRows writes the divided counts of a slab as rows of float32, (frame, pixel), for some frames from one of a panel on.
func (h *held[T]) dividedRows(to []float32, c *slab, first, some int) {
	counts, factors, n := h.rows(make([]uint32, some*c.words), c, first, some), h.t.factors[h.bin], h.t.movie.Frames
	x := make([]float32, c.pixels)
	for f := range some {
		for _, r := range c.runs {
			for i, v := range counts[perWord*f*c.words+r.at:][:r.n] {
				x[i] = float32(v)
			}
			times(to[f*c.pixels+r.place-c.from:][:r.n], x[:r.n], factors[r.static*n+first+f])
		}
	}
}

// Words of counts as bytes, and as numbers for kernels that move numbers.
func bytesOf(words []uint32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), perWord*len(words))
}

func bitsOf(words []uint32) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}

// stepWords is the number of words of two panels that are multiplied before the next, so that both stay in the first cache.
const stepWords = 64

// addCounts adds the products of the frames of two blocks over the pixels of a slab to the block of the upper triangle of c2 that begins at pair, static bin by static bin.
func (m *multiplier[T]) addCounts(who int, c2 []float64, h *held[T], c *slab, pair [2]int) {
	if m.counts[who] == nil {
		m.counts[who] = make([]int32, side*side)
	}
	n := m.t.movie.Frames
	for k, part := range c.parts {
		out := m.countProduct(m.counts[who], h, c, part, pair)
		factors := m.t.factors[h.bin][part.static*n:][:n]
		first, last := c.from == 0 && k == 0, k == len(c.parts)-1 && c.from+c.pixels == len(m.t.bins[h.bin].pixels)
		m.blocks(pair, func(i0, j0, rows, columns int) {
			for i := range rows {
				row, products := c2[(i0+i)*n+j0:][:columns], out[(i0-pair[0]+i)*side+j0-pair[1]:][:columns]
				kernels.ScaleCounts(kernels.Best(), row, products, factors[j0:], factors[i0+i], !first)
			}
			if last {
				m.finish(c2, h.bin, i0, j0, rows, columns)
			}
		})
	}
}

// countProduct writes the products (side, side) of the frames of two blocks over a part of the rows of all frames.
func (m *multiplier[T]) countProduct(out []int32, h *held[T], c *slab, part countPart, pair [2]int) []int32 {
	x, words, frames, most := h.panels(c), c.words, m.t.padded(), int(h.bits.Load())
	for from := part.from; from < part.from+part.words; from += stepWords {
		some := min(stepWords, part.from+part.words-from)
		for i := pair[0]; i < min(pair[0]+side, frames); i += panel {
			for j := max(i, pair[1]); j < min(pair[1]+side, frames); j += panel {
				a, b := x[i*words+from*panel:], x[j*words+from*panel:]
				kernels.CountProduct(kernels.Best(), some, a, b, most, out[(i-pair[0])*side+j-pair[1]:], side, from > part.from, i == j)
			}
		}
	}
	return out
}
