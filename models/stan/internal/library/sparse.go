// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// sparse registers functions of matrices in compressed rows: the values w, their columns v, and the starts u of rows, which count from 1.
func sparse() {
	register("csr_matrix_times_vector", false, sparseProduct, "int int vector int[] int[] vector => vector")
	register("csr_to_dense_matrix", false, func(c *Call) (value.Value, error) {
		rows, cols := c.Args[0].Integer(), c.Args[1].Integer()
		w := c.Args[2]
		row, col, err := sparsePlaces(rows, cols, w.Size(), c.Args[3].Ints(), c.Args[4].Ints())
		if err != nil {
			return w, err
		}
		if w.Size() == 0 {
			return value.Known(c.Result, make([]float64, rows*cols), rows, cols), nil
		}
		at := make([]int, len(row))
		for i := range at {
			at[i] = row[i]*cols + col[i]
		}
		return result(c, ad.Reshape(ad.ScatterAdd(w.Node(), ad.Ints(at, len(at)), 0, rows*cols), rows, cols), 0, rows, cols)
	}, "int int vector int[] int[] => matrix")
	parts := typing.Type{Kind: typing.Tuple, Elems: []typing.Type{typing.Of(typing.Vector), typing.Of(typing.Int, 1), typing.Of(typing.Int, 1)}}
	register("csr_extract", false, func(c *Call) (value.Value, error) {
		w, v, u, err := compressed(c.Args[0])
		return tuple(parts, w, v, u), err
	})
	overload("csr_extract", returning("matrix", parts))
	for i, name := range []string{"csr_extract_w", "csr_extract_v", "csr_extract_u"} {
		kind := map[bool]string{true: "vector", false: "int[]"}[i == 0]
		register(name, false, func(c *Call) (value.Value, error) {
			w, v, u, err := compressed(c.Args[0])
			return []value.Value{w, v, u}[i], err
		}, "matrix => "+kind)
	}
}

// compressed returns a known matrix in compressed rows.
func compressed(a value.Value) (w, v, u value.Value, err error) {
	if !a.Known() {
		return a, a, a, fmt.Errorf("which elements of the matrix are 0 must not depend on parameters: extract the rows of a matrix of data")
	}
	rows, cols := a.Shape[0], a.Shape[1]
	var values, column []float64
	starts := []float64{1}
	for i := range rows {
		for j := range cols {
			if x := a.F[i*cols+j]; x != 0 {
				values, column = append(values, x), append(column, float64(j+1))
			}
		}
		starts = append(starts, float64(len(values)+1))
	}
	ints := typing.Of(typing.Int, 1)
	return value.Vector(values), value.Known(ints, column, len(column)), value.Known(ints, starts, len(starts)), nil
}

// sparsePlaces returns row and column of each value, from 0.
func sparsePlaces(rows, cols, values int, v, u []int) (row, col []int, err error) {
	if len(u) != rows+1 || len(v) != values {
		return nil, nil, fmt.Errorf("a matrix of %d x %d needs %d row starts, and %d values as many columns; there are %d and %d: check the arguments", rows, cols, rows+1, values, len(u), len(v))
	}
	row, col = make([]int, len(v)), make([]int, len(v))
	for r := range rows {
		for k := u[r] - 1; k < u[r+1]-1; k++ {
			if k < 0 || k >= len(v) || v[k] < 1 || v[k] > cols {
				return nil, nil, fmt.Errorf("row %d has elements outside the matrix: check the row starts and the columns, which count from 1", r+1)
			}
			row[k], col[k] = r, v[k]-1
		}
	}
	return row, col, nil
}

// sparseProduct multiplies a matrix in compressed rows with a vector.
func sparseProduct(c *Call) (value.Value, error) {
	rows, cols := c.Args[0].Integer(), c.Args[1].Integer()
	w, b := c.Args[2], c.Args[5]
	row, col, err := sparsePlaces(rows, cols, w.Size(), c.Args[3].Ints(), c.Args[4].Ints())
	if err != nil {
		return b, err
	}
	if b.Size() != cols {
		return b, fmt.Errorf("the matrix has %d columns, and the vector has %d elements: give each column one", cols, b.Size())
	}
	if len(row) == 0 {
		return value.Vector(make([]float64, rows)), nil
	}
	p := ad.Mul(w.Node(), ad.Gather(b.Node(), ad.Ints(col, len(col)), 0))
	return result(c, ad.ScatterAdd(p, ad.Ints(row, len(row)), 0, rows), 0, rows)
}
