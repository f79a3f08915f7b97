// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ndimage

import (
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// window is a row of weights that moves along an axis: y_i = sum_k w_k x_(i-before+k).
type window struct {
	w      []float64
	before int
	mode   Mode
	cval   float64
}

// mostElements is the number of elements up to which a filter is a sparse matrix; beyond, at long axes, the
// continued array is convolved, which needs no matrix.
const mostElements = 1 << 20

// along returns the filtered array; the axis must be in range.
func (f window) along(x *ad.Node, axis int) *ad.Node {
	n := x.Shape()[axis]
	if x.Size() == 0 || len(f.w) == 1 && f.w[0] == 1 && f.before == 0 {
		return x
	}
	if n*len(f.w) > mostElements {
		return f.convolved(x, axis)
	}
	m, outside := f.matrix(n)
	y := m.Along(x, axis)
	if f.mode == Constant && f.cval != 0 {
		shape := slices.Repeat([]int{1}, len(x.Shape()))
		shape[axis] = n
		for i := range outside {
			outside[i] *= f.cval
		}
		y = ad.Add(y, ad.Const(outside, shape...))
	}
	return y
}

// matrix returns the filter of an axis of n elements as a matrix, and for each row the weight of what is outside.
func (f window) matrix(n int) (m *ad.SparseMatrix, outside []float64) {
	outside = make([]float64, n)
	rows := newRows(n)
	for i := range n {
		for k, w := range f.w {
			if j := f.mode.index(i-f.before+k, n); j >= 0 {
				rows.add(j, w)
			} else {
				outside[i] += w
			}
		}
		rows.end()
	}
	return rows.matrix(), outside
}

// convolved returns the filtered array by convolving rows that continue beyond their ends.
func (f window) convolved(x *ad.Node, axis int) *ad.Node {
	rank := len(x.Shape())
	perm := identity(rank)
	perm[axis], perm[rank-1] = perm[rank-1], perm[axis]
	x = ad.Permute(x, perm...)
	h := max(f.before, len(f.w)-1-f.before)
	w := make([]float64, 2*h+1)
	copy(w[h-f.before:], f.w)
	n := x.Shape()[rank-1]
	y := ad.Correlate(f.mode.extend(x, rank-1, h, h, f.cval), ad.Const(w))
	return ad.Permute(ad.Slice(y, rank-1, h, h+n), perm...)
}

func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// extend continues an axis by elements before and after.
func (m Mode) extend(x *ad.Node, axis, before, after int, cval float64) *ad.Node {
	shape := x.Shape()
	if before+after == 0 {
		return x
	}
	if m == Constant {
		b, a := make([]int, len(shape)), make([]int, len(shape))
		b[axis], a[axis] = before, after
		return ad.Pad(x, b, a, cval)
	}
	n := shape[axis]
	parts := []*ad.Node{}
	ends := func(from, to int) {
		if from == to {
			return
		}
		idx := make([]int, 0, to-from)
		for i := from; i < to; i++ {
			idx = append(idx, m.index(i, n))
		}
		parts = append(parts, ad.Gather(x, ad.Ints(idx), axis))
	}
	ends(-before, 0)
	parts = append(parts, x)
	ends(n, n+after)
	return ad.Concat(axis, parts...)
}

// rows collects a sparse matrix row by row; weights of equal columns are added.
type rows struct {
	from, col []int
	value     []float64
	sum       []float64 // weights of the row that is being collected
	used      []bool
	touched   []int
}

func newRows(cols int) *rows {
	return &rows{from: []int{0}, sum: make([]float64, cols), used: make([]bool, cols)}
}

func (r *rows) add(col int, w float64) {
	if !r.used[col] {
		r.used[col] = true
		r.touched = append(r.touched, col)
	}
	r.sum[col] += w
}

func (r *rows) end() {
	slices.Sort(r.touched)
	for _, j := range r.touched {
		r.col, r.value = append(r.col, j), append(r.value, r.sum[j])
		r.sum[j], r.used[j] = 0, false
	}
	r.from, r.touched = append(r.from, len(r.col)), r.touched[:0]
}

func (r *rows) matrix() *ad.SparseMatrix {
	return ad.NewSparseMatrix(len(r.sum), r.from, r.col, r.value)
}
