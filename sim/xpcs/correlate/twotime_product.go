// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels"
)

// addTo adds the counts of a frame to the sums of the static bins of its pixels. Neighbours in one static bin are summed four by four,
// so that no addition waits for the one before.
func (b *bin) addTo(sums []float64, frame []float32) {
	for i := 0; i < len(b.pixels); {
		s, j := b.static[i], i+1
		for j < len(b.pixels) && b.static[j] == s {
			j++
		}
		var p, q, r, u float64
		run := b.pixels[i:j]
		for ; len(run) >= 4; run = run[4:] {
			p += float64(frame[run[0]])
			q += float64(frame[run[1]])
			r += float64(frame[run[2]])
			u += float64(frame[run[3]])
		}
		for _, k := range run {
			p += float64(frame[k])
		}
		sums[s] += p + q + (r + u)
		i = j
	}
}

// multiplier multiplies blocks of frames, for several goroutines.
type multiplier[T real] struct {
	t     *twotime
	rooms []room[T]
}

// room is what one goroutine needs.
type room[T real] struct {
	ws  kernels.Workspace
	out []T
}

func newMultiplier[T real](t *twotime) *multiplier[T] {
	return &multiplier[T]{t: t, rooms: make([]room[T], t.s.threads())}
}

// blocks is the number of blocks of frames.
func (t *twotime) blocks() int { return (t.movie.Frames + panel - 1) / panel }

// product returns the products of the frames of two blocks, (panel, panel), summed over pixels, of which each frame of
// x has as many.
func (m *multiplier[T]) product(who int, x []T, pair [2]int, pixels int) []T {
	r := &m.rooms[who]
	if r.out == nil {
		r.out = make([]T, panel*panel)
	}
	m.multiply(r, x, pair, pixels)
	return r.out
}

// half is where a block on the diagonal is divided: below it, columns before it are left out, which the other triangle has.
const half = 6 * kernels.GemmRows

// multiply multiplies the frames of two blocks that there are.
func (m *multiplier[T]) multiply(r *room[T], x []T, pair [2]int, pixels int) {
	a, b := x[pair[0]*panel*pixels:], x[pair[1]*panel*pixels:]
	rows, columns := min(panel, m.t.movie.Frames-pair[0]*panel), min(panel, m.t.movie.Frames-pair[1]*panel)
	if pair[0] != pair[1] || rows <= half {
		gemm(&r.ws, a, b, r.out, pixels, rows, columns, 0, rows, 0)
		return
	}
	gemm(&r.ws, a, b, r.out, pixels, rows, columns, 0, half, 0)
	gemm(&r.ws, a, b, r.out, pixels, rows, columns, half, rows, half)
}

// gemm multiplies blocks of frames: rows from to to, and the columns from left on.
func gemm[T real](ws *kernels.Workspace, a, b, out []T, pixels, rows, columns, from, to, left int) {
	switch a := any(a).(type) {
	case []float64:
		kernels.GemmPart64(kernels.Best(), ws, false, true, rows, columns, pixels, 1, a, pixels, any(b).([]float64), pixels, 0, any(out).([]float64), panel, from, to, left, columns)
	case []float32:
		kernels.GemmPart32(kernels.Best(), ws, false, true, rows, columns, pixels, 1, a, pixels, any(b).([]float32), pixels, 0, any(out).([]float32), panel, from, to, left, columns)
	}
}

// add adds the products of frames, summed over the pixels of a span, to the upper triangle of c2, which is the map once the
// bin has no more pixels; x is what hold returns for the span.
func (m *multiplier[T]) add(ctx context.Context, c2 []float64, x []T, sp span, ages *ageSums) error {
	n, width := m.t.movie.Frames, sp.to-sp.from
	var pairs [][2]int
	for i := range m.t.blocks() {
		for j := range i + 1 {
			pairs = append(pairs, [2]int{j, i})
		}
	}
	for from := 0; from < width; from += depth {
		if err := ctx.Err(); err != nil {
			return err
		}
		pixels := min(depth, width-from)
		part := x[from*n:][:pixels*n]
		addAges(ages, part, sp.from+from, pixels)
		parallel.Do(m.t.s.threads(), len(pairs), func(who, k int) {
			m.collect(c2, m.product(who, part, pairs[k], pixels), pairs[k], sp, from, pixels)
		})
	}
	return nil
}

// divided writes the counts of pixels of a frame times a factor for each of their static bins, and returns their sum.
func divided[T real](to []T, frame []float32, pixels []int, inverse []float64, static []int) float64 {
	var sums [4]float64
	to, static = to[:len(pixels)], static[:len(pixels)]
	i := 0
	for ; i+4 <= len(pixels); i += 4 {
		p, s, d := pixels[i:i+4:i+4], static[i:i+4:i+4], to[i:i+4:i+4]
		a, b, c, e := float64(frame[p[0]])*inverse[s[0]], float64(frame[p[1]])*inverse[s[1]], float64(frame[p[2]])*inverse[s[2]], float64(frame[p[3]])*inverse[s[3]]
		sums[0], sums[1], sums[2], sums[3] = sums[0]+a, sums[1]+b, sums[2]+c, sums[3]+e
		d[0], d[1], d[2], d[3] = T(a), T(b), T(c), T(e)
	}
	for ; i < len(pixels); i++ {
		w := float64(frame[pixels[i]]) * inverse[static[i]]
		sums[0] += w
		to[i] = T(w)
	}
	return sums[0] + sums[1] + (sums[2] + sums[3])
}

// tileSide is the side of the tiles in which a map is mirrored, so that both sides stay in the first cache.
const tileSide = 32

// collect adds an output (panel, panel) to a block of the upper triangle of c2, which has the sums of the pixels before
// unless they are the first. With the last pixels of a bin it normalises and mirrors the block.
func (m *multiplier[T]) collect(c2 []float64, out []T, pair [2]int, sp span, from, pixels int) {
	n, sums, all := m.t.movie.Frames, m.t.sums[sp.bin], float64(len(m.t.bins[sp.bin].pixels))
	first, last := sp.from+from == 0, sp.from+from+pixels == int(all)
	top, left := pair[0]*panel, pair[1]*panel
	for i0 := top; i0 < min(top+panel, n); i0 += tileSide {
		for j0 := left; j0 < min(left+panel, n); j0 += tileSide {
			for i := i0; i < min(i0+tileSide, top+panel, n); i++ {
				row, products := c2[i*n:][:n], out[(i-top)*panel:][:panel]
				for j := max(i, j0); j < min(j0+tileSide, left+panel, n); j++ {
					v := float64(products[j-left])
					if !first {
						v += row[j]
					}
					if last {
						d := sums[i] * sums[j]
						if v = v * all / d; d == 0 {
							v = 0
						}
						c2[j*n+i] = v
					}
					row[j] = v
				}
			}
		}
	}
}
