// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"sync"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
)

// SparseMatrix is a constant matrix in compressed sparse row format, to be multiplied with arrays
// along an axis. It is meant for linear maps along an axis that are local: filters, resampling,
// differences.
type SparseMatrix struct {
	rows, cols  int
	from, col   []int
	value       []float64
	in          [3]*Node // value, col and from as inputs of the operation
	transposing sync.Once
	transpose   *SparseMatrix
	err         *Node
}

// NewSparseMatrix makes a matrix with len(from)-1 rows. The elements of row i are value[k] in the
// columns col[k] for k = from[i] ... from[i+1]-1; if a column occurs twice in a row, the two values
// are added. The matrix shares the slices. A mistake stays with the Nodes that [SparseMatrix.Along]
// makes.
func NewSparseMatrix(cols int, from, col []int, value []float64) *SparseMatrix {
	m := &SparseMatrix{rows: len(from) - 1, cols: cols, from: from, col: col, value: value}
	ok := m.rows >= 0 && from[0] == 0 && from[m.rows] == len(col) && len(value) == len(col)
	for i := 0; ok && i < m.rows; i++ {
		ok = from[i] <= from[i+1]
	}
	if !ok {
		m.err = mistake("sparse_along", "there are %d columns and %d values, and the rows begin at %v: want as many columns as values, and beginnings in ascending order, from 0 to that number", len(col), len(value), from)
		return m
	}
	for k, j := range col {
		if j < 0 || j >= cols {
			m.err = mistake("sparse_along", "element %d is in column %d: want columns 0..%d", k, j, cols-1)
			return m
		}
	}
	if len(col) > 0 {
		m.in = [3]*Node{Const(value), Ints(col), Ints(from)}
	}
	return m
}

// Along returns the product of the matrix with x along one axis: with axis 1, y[i,r,j] = sum_c M[r,c] x[i,c,j]. A row
// that has an element where x is NaN gives NaN. Gradient: the product of g with the transposed matrix.
func (m *SparseMatrix) Along(x *Node, axis int) *Node {
	if m.err != nil {
		return m.err
	}
	if bad := notReal("sparse_along", x); bad != nil {
		return bad
	}
	ax, ok := axisOf(axis, len(x.shape))
	if !ok || x.shape[ax] != m.cols {
		return mistake("sparse_along", "cannot multiply axis %d of shape %v by a %d x %d matrix: want an axis as long as the matrix has columns", axis, x.shape, m.rows, m.cols)
	}
	s := x.shape.Clone()
	s[ax] = m.rows
	if len(m.col) == 0 {
		return Full(0, s...)
	}
	y := newNode(sparseOp, s, x, m.in[0], m.in[1], m.in[2])
	y.attr, y.obj = []int{ax}, m
	return y
}

// Transpose returns the transposed matrix.
func (m *SparseMatrix) Transpose() *SparseMatrix {
	if m.err != nil {
		return m
	}
	m.transposing.Do(func() {
		from, col, value := make([]int, m.cols+1), make([]int, len(m.col)), make([]float64, len(m.col))
		for _, j := range m.col {
			from[j+1]++
		}
		for j := range m.cols {
			from[j+1] += from[j]
		}
		next := append([]int(nil), from...)
		for i := range m.rows {
			for k := m.from[i]; k < m.from[i+1]; k++ {
				at := next[m.col[k]]
				next[m.col[k]]++
				col[at], value[at] = i, m.value[k]
			}
		}
		m.transpose = NewSparseMatrix(m.rows, from, col, value)
	})
	return m.transpose
}

var sparseOp *Op

func init() {
	sparseOp = register(&Op{Name: "sparse_along", Arity: 4, kind: compiler.Step, pure: true, Smooth: true,
		lift: func(b *batcher, n *Node) *Node { return b.with(n, n.attr, b.made[n.in[0]], n.in[1], n.in[2], n.in[3]) },
		vjp: func(g, y *Node, _ []*Node) []*Node {
			return []*Node{y.obj.(*SparseMatrix).Transpose().Along(g, y.attr[0]), nil, nil, nil}
		},
		run:    func(c *cpu.Call) error { return c.Each(runSparse[float64], runSparse[float32]) },
		device: cuda.SparseAlong,
		Sample: func(in Source) []*Node {
			m := NewSparseMatrix(4, []int{0, 2, 2, 5}, []int{3, 0, 1, 2, 1}, []float64{0.5, -1, 2, 0.25, 1})
			var from, col []int
			var value []float64
			for i := range 13 { // the same weights in every row, one column further
				from, col, value = append(from, 3*i), append(col, i, i+1, i+2), append(value, 0.5, -1, 0.25)
			}
			wide := NewSparseMatrix(15, append(from, 39), col, value)
			return []*Node{m.Along(in(-1, 1, 2, 4, 3), 1), m.Along(in(-1, 1, 3, 4), 1), wide.Along(in(-1, 1, 2, 15), 1)}
		}})
}

// sparseTile is a number of elements that stay in the first-level cache while a row passes.
const sparseTile = 512

// runSparse takes whole rows of x where the axis is not the last one, and otherwise runs of rows of the matrix.
func runSparse[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	outer, inner, rows := around(c.Shape, c.Attr[0])
	if len(out) == 0 {
		return nil
	}
	tiles := (inner + sparseTile - 1) / sparseTile
	n := outer * tiles * rows
	if inner == 1 {
		n = outer
	}
	w := cpu.Scratch(c, func() *rowWork {
		if inner == 1 {
			return &rowWork{n, sparseLast(c, out, in, rows)}
		}
		return &rowWork{n, sparseInner(c, out, in, rows, inner)}
	})
	c.EachRow(w.n, outer*inner*len(in[1]), w.f)
	return nil
}

// sparseInner returns the work for an axis with others inside it. Its unit is a tile of a row of the result; tiles of
// the same elements follow each other, because they read the same memory.
func sparseInner[T cpu.Real](c *cpu.Call, out []T, in [][]T, rows, inner int) func(hand, from, to int) {
	mul, fma := cpu.Scaled[T](c), cpu.FMA[T](c, true)
	x, value, col, start := in[0], in[1], c.Ints[2], c.Ints[3]
	cols, tiles := c.InShape[0][c.Attr[0]], (inner+sparseTile-1)/sparseTile
	return func(_, from, to int) {
		for u := from; u < to; u++ {
			o, tile, row := u/(rows*tiles), u/rows%tiles, u%rows
			at := tile * sparseTile
			n := min(sparseTile, inner-at)
			y := out[(o*rows+row)*inner+at:][:n]
			k, end := int(start[row]), int(start[row+1])
			if k == end {
				clear(y)
				continue
			}
			base := o*cols*inner + at
			mul(&y[0], &x[base+int(col[k])*inner], &value[k], n)
			for k++; k < end; k++ {
				fma(&y[0], &x[base+int(col[k])*inner], &value[k], &y[0], n)
			}
		}
	}
}

// sparseLast returns the work for the last axis. Its unit is a row of x.
func sparseLast[T cpu.Real](c *cpu.Call, out []T, in [][]T, rows int) func(hand, from, to int) {
	mul, fma := cpu.Scaled[T](c), cpu.FMA[T](c, true)
	value, col, start := in[1], c.Ints[2], c.Ints[3]
	cols := c.InShape[0][c.Attr[0]]
	runs := shiftedRuns(value, col, start)
	return func(_, from, to int) {
		for o := from; o < to; o++ {
			x, y := in[0][o*cols:(o+1)*cols], out[o*rows:(o+1)*rows]
			for r := range runs[1:] {
				first, end := runs[r], runs[r+1]
				k0, k1 := int(start[first]), int(start[first+1])
				if end-first == 1 || k0 == k1 {
					for i := first; i < end; i++ {
						y[i] = sparseElement(x, value, col, int(start[i]), int(start[i+1]))
					}
					continue
				}
				for ; first < end; first += sparseTile {
					n, d := min(sparseTile, end-first), first-runs[r]
					mul(&y[first], &x[int(col[k0])+d], &value[k0], n)
					for k := k0 + 1; k < k1; k++ {
						fma(&y[first], &x[int(col[k])+d], &value[k], &y[first], n)
					}
				}
			}
		}
	}
}

// sparseElement returns the product of one row of the matrix with x.
func sparseElement[T cpu.Real](x, value []T, col []int64, from, to int) T {
	var sum float64
	for k := from; k < to; k++ {
		sum += float64(value[k]) * float64(x[col[k]])
	}
	return T(sum)
}

// shiftedRuns returns where runs of rows begin of which each is the one before, one column further, and the number of
// rows; runs too short to gain by it are single rows.
func shiftedRuns[T cpu.Real](value []T, col, start []int64) []int {
	rows := len(start) - 1
	follows := func(i int) bool {
		a, b, n := start[i-1], start[i], start[i]-start[i-1]
		if start[i+1]-b != n {
			return false
		}
		for k := range n {
			if col[b+k] != col[a+k]+1 || value[b+k] != value[a+k] {
				return false
			}
		}
		return true
	}
	const short = 8
	var runs []int
	for i := 0; i < rows; {
		end := i + 1
		for end < rows && follows(end) {
			end++
		}
		runs = append(runs, i)
		if end-i < short {
			for i++; i < end; i++ {
				runs = append(runs, i)
			}
		}
		i = end
	}
	return append(runs, rows)
}
