// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import "fmt"

// Matrix is a table of numbers, row by row.
type Matrix struct {
	Rows, Cols int
	Data       []float64
}

// NewMatrix returns a matrix of zeros.
func NewMatrix(rows, cols int) *Matrix {
	return &Matrix{rows, cols, make([]float64, rows*cols)}
}

// At returns the number in a row and column, both from 0.
func (m *Matrix) At(row, col int) float64 { return m.Data[row*m.Cols+col] }

// Set changes the number in a row and column.
func (m *Matrix) Set(row, col int, v float64) { m.Data[row*m.Cols+col] = v }

// Row returns a row. It shares memory with m.
func (m *Matrix) Row(i int) []float64 { return m.Data[i*m.Cols : (i+1)*m.Cols] }

// Column returns a copy of a column.
func (m *Matrix) Column(j int) []float64 {
	c := make([]float64, m.Rows)
	for i := range c {
		c[i] = m.At(i, j)
	}
	return c
}

func (m *Matrix) shape() string {
	if m == nil {
		return "none"
	}
	return fmt.Sprintf("(%d, %d)", m.Rows, m.Cols)
}
