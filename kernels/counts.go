// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "math"

// MostCount is the largest number that Counts takes.
const MostCount = 127

// countKernels are those of a level; a tile has rows and up to len(tile) vectors of lanes columns.
type countKernels struct {
	counts      func(dst *uint8, src *float32, n int) (bits, done int)
	scale       func(dst *float64, x *int32, y *float64, scale float64, n, keep int) (done int)
	tile        []countTile
	few         []countTile // tiles whose sums of pairs of products have 16 bits; nil if they would be no faster
	rows, lanes int
}

type countTile = func(k int, a, b *uint32, c *int32, cs, keep int)

// Counting reports whether the level has assembly for Counts and CountProduct, which are slower than PanelProduct32 without.
func Counting(l Level) bool { return counting[usable(l)] != nil }

// Counts writes numbers as bytes and returns their bitwise OR, which none of them exceeds. It ends with ok false where it meets one that is not whole, below 0 or above
// MostCount; dst then has other numbers up to there.
func Counts(l Level, dst []uint8, src []float32) (bits int, ok bool) {
	if len(dst) < len(src) {
		panic("kernels: Counts: there are fewer bytes than numbers")
	}
	done := 0
	if f := counting[usable(l)]; f != nil && len(src) > 0 {
		bits, done = f.counts(&dst[0], &src[0], len(src))
	}
	for i, v := range src[done:] {
		if !(v >= 0 && v <= MostCount && float64(v) == math.Trunc(float64(v))) {
			return bits, false
		}
		dst[done+i] = uint8(v)
		bits |= int(v)
	}
	return bits, true
}

// CountProduct multiplies two panels of k words a row into C, (PanelRows, PanelRows) with rows ldc apart. A word has four counts of a row, the first in its low byte, and
// word p of row i is at p*PanelRows+i, as Transpose32 writes words in place of numbers:
//
//	c[i*ldc+j] = sum over p and the four counts x of a[p*PanelRows+i] and y of b[p*PanelRows+j] of x*y
//
// No count may be larger than most, a number from 0 to MostCount, of which small ones are faster with AVX2; products of larger counts are wrong. With add it adds the sum to C; no more than 2^31 / MostCount^2 = 133,000 counts may be added up. With upper, elements with j < i may be left as they are.
func CountProduct(l Level, k int, a, b []uint32, most int, c []int32, ldc int, add, upper bool) {
	switch {
	case k < 0:
		panic("kernels: CountProduct was given a negative size")
	case most < 0 || most > MostCount:
		panic("kernels: CountProduct was given a largest count that is not from 0 to MostCount")
	case len(a)/PanelRows < k || len(b)/PanelRows < k:
		panic("kernels: CountProduct: a panel is shorter than k and PanelRows say")
	case ldc < PanelRows || len(c) < PanelRows || PanelRows-1 > (len(c)-PanelRows)/ldc: // products of sizes may overflow
		panic("kernels: CountProduct: C is shorter than PanelRows and ldc say")
	}
	f := counting[usable(l)]
	if !add && (f == nil || k == 0) {
		for i := range PanelRows {
			clear(c[i*ldc:][:PanelRows])
		}
	}
	switch {
	case k == 0:
	case f == nil:
		countLoops(a[:k*PanelRows], b, c, ldc, upper)
	default:
		f.product(k, a, b, most, c, ldc, add, upper)
	}
}

// fewSteps is the least number of words between which it pays to add sums of 16 bits to those of 32.
const fewSteps = 8

func (f *countKernels) product(k int, a, b []uint32, most int, c []int32, ldc int, add, upper bool) {
	tiles, steps := f.tile, k
	if fit := math.MaxInt16 / max(2*most*most, 1); f.few != nil && fit >= fewSteps {
		tiles, steps = f.few, fit
	}
	keep := 0
	if add {
		keep = 1
	}
	for from := 0; from < k; from += steps {
		f.part(tiles, min(steps, k-from), a[from*PanelRows:], b[from*PanelRows:], c, ldc, keep, upper)
		keep = 1
	}
}

// part adds the products of so many words that tiles can add up.
func (f *countKernels) part(tiles []countTile, k int, a, b []uint32, c []int32, ldc, keep int, upper bool) {
	for j := 0; j < PanelRows; j += len(tiles) * f.lanes {
		right := j + len(tiles)*f.lanes
		for i := 0; i < PanelRows && !(upper && i >= right); i += f.rows {
			left := j
			if upper {
				left = max(j, i/f.lanes*f.lanes)
			}
			tiles[(right-left)/f.lanes-1](k, &a[i], &b[left], &c[i*ldc+left], 4*ldc, keep)
		}
	}
}

func countLoops(a, b []uint32, c []int32, ldc int, upper bool) {
	for p := 0; p < len(a); p += PanelRows {
		for i := range PanelRows {
			from := 0
			if upper {
				from = i
			}
			x := a[p+i]
			x0, x1, x2, x3 := int32(x&0xff), int32(x>>8&0xff), int32(x>>16&0xff), int32(x>>24)
			row := c[i*ldc+from : i*ldc+PanelRows]
			for j, y := range b[p+from : p+PanelRows] {
				row[j] += x0*int32(y&0xff) + x1*int32(y>>8&0xff) + x2*int32(y>>16&0xff) + x3*int32(y>>24)
			}
		}
	}
}

// ScaleCounts writes dst[i] = (x[i]*y[i])*scale, or adds that to dst[i], rounded once, with add. It panics if y or dst is shorter than x.
func ScaleCounts(l Level, dst []float64, x []int32, y []float64, scale float64, add bool) {
	dst, y = dst[:len(x)], y[:len(x)]
	done := 0
	if f := counting[usable(l)]; f != nil && len(x) > 0 {
		keep := 0
		if add {
			keep = 1
		}
		done = f.scale(&dst[0], &x[0], &y[0], scale, len(x), keep)
	}
	for i := done; i < len(x); i++ {
		v := float64(x[i]) * y[i]
		if add {
			dst[i] = math.FMA(v, scale, dst[i])
		} else {
			dst[i] = v * scale
		}
	}
}
