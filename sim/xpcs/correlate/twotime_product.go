// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels"
)

// multiplier multiplies blocks of frames, for several goroutines.
type multiplier[T real] struct {
	t       *twotime
	inverse []float64 // of the sum of each frame over a bin; 0 for a frame without counts
	out     [][]T     // products of two blocks, (side, side), for each goroutine
	counts  [][]int32 // likewise of counts
}

const (
	panel = kernels.PanelRows // frames that lie beside each other
	side  = 5 * panel         // frames of a block of a map, so that two blocks and their products stay in the second-level cache
	step  = 256               // pixels of two blocks that are multiplied before the next
)

func newMultiplier[T real](t *twotime) *multiplier[T] {
	threads := t.s.threads()
	return &multiplier[T]{t: t, inverse: make([]float64, t.movie.Frames), out: make([][]T, threads), counts: make([][]int32, threads)}
}

// padded is the number of frames of whole panels.
func (t *twotime) padded() int { return (t.movie.Frames + panel - 1) / panel * panel }

// product returns the products (side, side) of the frames of two blocks, which begin at the frames of pair, summed over pixels; x is
// the counts of all frames, (panel of frames, pixel, frame of the panel). Below the diagonal of the map they mean nothing.
func (m *multiplier[T]) product(who int, x []T, pair [2]int, pixels int) []T {
	if m.out[who] == nil {
		m.out[who] = make([]T, side*side)
	}
	out, frames := m.out[who], m.t.padded()
	for from := 0; from < pixels; from += step {
		some := min(step, pixels-from)
		for i := pair[0]; i < min(pair[0]+side, frames); i += panel {
			for j := max(i, pair[1]); j < min(pair[1]+side, frames); j += panel {
				a, b := x[i*pixels+from*panel:][:some*panel], x[j*pixels+from*panel:][:some*panel]
				multiply(a, b, out[(i-pair[0])*side+j-pair[1]:], some, from > 0, i == j)
			}
		}
	}
	return out
}

// multiply multiplies two panels, (pixel, frame).
func multiply[T real](a, b, out []T, pixels int, add, upper bool) {
	switch a := any(a).(type) {
	case []float64:
		kernels.PanelProduct64(kernels.Best(), pixels, a, any(b).([]float64), any(out).([]float64), side, add, upper)
	case []float32:
		kernels.PanelProduct32(kernels.Best(), pixels, a, any(b).([]float32), any(out).([]float32), side, add, upper)
	}
}

// add adds the products of frames, summed over the pixels of a span, to the upper triangle of c2, which is the map once the
// bin has no more pixels.
func (m *multiplier[T]) add(ctx context.Context, c2 []float64, h *held[T], ages *ageSums) error {
	n := m.t.padded()
	for i, s := range m.t.sums[h.bin] {
		if m.inverse[i] = 1 / s; s == 0 {
			m.inverse[i] = 0
		}
	}
	var pairs [][2]int
	for i := 0; i < n; i += side {
		for j := 0; j <= i; j += side {
			pairs = append(pairs, [2]int{j, i})
		}
	}
	for k := range h.slabs {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := &h.slabs[k]
		addAges(ages, h, c, nil, c.from, c.pixels)
		parallel.Do(m.t.s.threads(), len(pairs), func(who, k int) { m.addCounts(who, c2, h, c, pairs[k]) })
	}
	for from := h.from; from < h.to && h.divided != nil; from += depth {
		if err := ctx.Err(); err != nil {
			return err
		}
		pixels := min(depth, h.to-from)
		part := h.divided[(from-h.from)*n:][:pixels*n]
		addAges(ages, h, nil, part, from, pixels)
		parallel.Do(m.t.s.threads(), len(pairs), func(who, k int) {
			m.collect(c2, m.product(who, part, pairs[k], pixels), pairs[k], h.bin, from, pixels)
		})
	}
	return nil
}

// blocks calls f for the panels of a block of c2 that are not below its diagonal, with their first row and column and the numbers of these.
func (m *multiplier[T]) blocks(pair [2]int, f func(i0, j0, rows, columns int)) {
	n := m.t.movie.Frames
	for i0 := pair[0]; i0 < min(pair[0]+side, n); i0 += panel {
		for j0 := max(i0, pair[1]); j0 < min(pair[1]+side, n); j0 += panel {
			f(i0, j0, min(panel, n-i0), min(panel, n-j0))
		}
	}
}

// collect adds an output (side, side) to a block of the upper triangle of c2, which has the sums of the pixels before
// unless they are the first.
func (m *multiplier[T]) collect(c2 []float64, out []T, pair [2]int, bin, from, pixels int) {
	n := m.t.movie.Frames
	m.blocks(pair, func(i0, j0, rows, columns int) {
		for i := range rows {
			row, products := c2[(i0+i)*n+j0:][:columns], out[(i0-pair[0]+i)*side+j0-pair[1]:][:columns]
			if from > 0 {
				accumulate(row, products)
				continue
			}
			for j, v := range products {
				row[j] = float64(v)
			}
		}
		if from+pixels == len(m.t.bins[bin].pixels) {
			m.finish(c2, bin, i0, j0, rows, columns)
		}
	})
}

// finish normalises and mirrors a part of the upper triangle, which has the sums of all pixels of a bin.
func (m *multiplier[T]) finish(c2 []float64, bin, i0, j0, rows, columns int) {
	n, all := m.t.movie.Frames, float64(len(m.t.bins[bin].pixels))
	times, scaled := kernels.Binary64(kernels.Best(), "mul"), kernels.Binary64(kernels.Best(), "mul_s")
	for i := range rows {
		row, scale := c2[(i0+i)*n+j0:][:columns], all*m.inverse[i0+i]
		times(&row[0], &row[0], &m.inverse[j0], columns)
		scaled(&row[0], &row[0], &scale, columns)
	}
	mirror(c2, n, i0, j0, rows, columns)
}

// mirror copies rows and columns of the upper triangle of c2, (n, n), from (i, j) on, to the lower triangle.
func mirror(c2 []float64, n, i, j, rows, columns int) {
	if i != j {
		kernels.Transpose64(kernels.Best(), c2[j*n+i:], n, c2[i*n+j:], n, rows, columns)
		return
	}
	for r := range rows {
		for c := range r {
			c2[(i+r)*n+i+c] = c2[(i+c)*n+i+r]
		}
	}
}
