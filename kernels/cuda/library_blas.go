// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/kernels/cuda/lib"
)

// MatMul is the product C = Alpha op(A) op(B) + Beta C of matrices stored by rows, or of a batch of
// them: op(A) is M by K, op(B) is K by N, and C is M by N.
type MatMul struct {
	Type    Type
	M, N, K int
	A, B, C Part
	// TransA and TransB use the transpose of the stored matrix.
	TransA, TransB bool
	Alpha          float64 // factor of the product; 0 means 1
	// Beta is the factor of the old contents of C, which are not read if it is 0.
	Beta float64
	// LDA, LDB and LDC are the numbers of elements from one row to the next; 0 means that rows
	// follow each other.
	LDA, LDB, LDC int
	Batch         int // number of products; 0 means 1
	// StrideA, StrideB and StrideC are the numbers of elements from one matrix to the next. An A or
	// B of stride 0 serves the whole batch.
	StrideA, StrideB, StrideC int
	// TF32 rounds float32 operands to 10 bits, which tensor cores multiply fast. By default
	// products follow IEEE 754.
	TF32 bool
}

// defaults fills in what is 0.
func (m MatMul) defaults() MatMul {
	rows := func(ld *int, trans bool, rows, cols int) {
		if *ld == 0 {
			*ld = max(1, cols)
			if trans {
				*ld = max(1, rows)
			}
		}
	}
	rows(&m.LDA, m.TransA, m.M, m.K)
	rows(&m.LDB, m.TransB, m.K, m.N)
	rows(&m.LDC, false, m.M, m.N)
	if m.Alpha == 0 {
		m.Alpha = 1
	}
	m.Batch = max(m.Batch, 1)
	return m
}

// extent returns the numbers from the first to the last of a batch of matrices by rows.
func extent(rows, cols, ld, batch, stride int) int {
	if rows == 0 || cols == 0 || batch == 0 {
		return 0
	}
	return (batch-1)*stride + (rows-1)*ld + cols
}

// MatMul puts a product of matrices on a stream. The sums have a fixed order for a device, a version of
// the library and a shape. C must overlap neither A nor B.
func (l *Libraries) MatMul(s *Stream, m MatMul) error {
	b, err := l.blas.get(lib.OpenBLAS)
	if err != nil {
		return err
	}
	m = m.defaults()
	if err := errors.Join(fits32("MatMul", m.M, m.N, m.K, m.LDA, m.LDB, m.LDC, m.Batch, m.StrideA, m.StrideB, m.StrideC)); err != nil {
		return err
	}
	rowsA, colsA, rowsB, colsB := m.M, m.K, m.K, m.N
	if m.TransA {
		rowsA, colsA = colsA, rowsA
	}
	if m.TransB {
		rowsB, colsB = colsB, rowsB
	}
	if m.LDA < colsA || m.LDB < colsB || m.LDC < m.N {
		return fmt.Errorf("%w: MatMul: the rows of A, B and C have %d, %d and %d numbers, but begin every %d, %d and %d: want LDA, LDB and LDC at least as long as the rows", ErrArgument, colsA, colsB, m.N, m.LDA, m.LDB, m.LDC)
	}
	if m.Batch > 1 && m.StrideC < extent(m.M, m.N, m.LDC, 1, 0) {
		return fmt.Errorf("%w: MatMul: the %d results of %d by %d overlap, because one begins every %d numbers: raise StrideC", ErrArgument, m.Batch, m.M, m.N, m.StrideC)
	}
	if m.M == 0 || m.N == 0 {
		return nil
	}
	size := m.Type.Size()
	operands := []operand{{"A", m.A, extent(rowsA, colsA, m.LDA, m.Batch, m.StrideA), size}, {"B", m.B, extent(rowsB, colsB, m.LDB, m.Batch, m.StrideB), size},
		{"C", m.C, extent(m.M, m.N, m.LDC, m.Batch, m.StrideC), size}}
	// By columns the same memory holds the transposes: C' = op(B)' op(A)'.
	g := lib.GEMM{M: m.N, N: m.M, K: m.K, TransA: m.TransB, TransB: m.TransA, Alpha: m.Alpha, Beta: m.Beta, LDA: m.LDB, LDB: m.LDA, LDC: m.LDC,
		StrideA: m.StrideB, StrideB: m.StrideA, StrideC: m.StrideC}
	if m.Batch > 1 {
		g.Batch = m.Batch
	}
	return l.run(s, "MatMul", operands, func() error {
		h, err := l.blasHandle(s, b)
		if err != nil {
			return err
		}
		mode := lib.IEEE
		if m.TF32 {
			mode = lib.TF32
		}
		if err := b.SetMathMode(h, mode); err != nil {
			return err
		}
		g.A, g.B, g.C = operands[1].address(), operands[0].address(), operands[2].address()
		return b.Gemm(h, lib.Type(m.Type), g)
	})
}

// SolveTriangular puts the solution X of op(A) X = B on a stream, in place of the n by k matrix B.
// It reads one triangle of the n by n matrix A with its diagonal, the lower one if lower is true;
// op(A) is A, or its transpose if trans is true. Rows follow each other. A 0 on the diagonal makes
// the result infinite or NaN.
func (l *Libraries) SolveTriangular(s *Stream, t Type, n, k int, lower, trans bool, a, b Part) error {
	blas, err := l.blas.get(lib.OpenBLAS)
	if err != nil {
		return err
	}
	if err := fits32("SolveTriangular", n, k); err != nil || n == 0 || k == 0 {
		return err
	}
	operands := []operand{{"A", a, n * n, t.Size()}, {"B", b, n * k, t.Size()}}
	return l.run(s, "SolveTriangular", operands, func() error {
		h, err := l.blasHandle(s, blas)
		if err != nil {
			return err
		}
		if err := blas.SetMathMode(h, lib.IEEE); err != nil {
			return err
		}
		// By columns the same memory holds the transposes: X' op(A)' = B', and a lower triangle is an upper one.
		return blas.Trsm(h, lib.Type(t), lib.TRSM{M: k, N: n, Upper: lower, Trans: trans, A: operands[0].address(), LDA: n, B: operands[1].address(), LDB: k})
	})
}

// workBytes is what cuBLAS gets to work in: what NVIDIA recommends for the architecture.
func (l *Libraries) workBytes() int {
	if l.d.info.Capability[0] >= 9 {
		return 32 << 20
	}
	return 4 << 20
}

// blasHandle returns the handle of a stream, with its workspace.
func (l *Libraries) blasHandle(s *Stream, b lib.BLAS) (lib.Handle, error) {
	t, err := l.take(s, blasKey{}, always, func() (*tool, error) {
		h, err := b.Create()
		return &tool{handle: h, destroy: func() error { return b.Destroy(h) }}, err
	})
	if err != nil {
		return 0, err
	}
	w, err := l.work(s, l.workBytes())
	if err != nil {
		return 0, err
	}
	return t.handle, errors.Join(b.SetStream(t.handle, s.handle), b.SetWorkspace(t.handle, w, l.workBytes()))
}

// transpose puts dst = src' on a stream for a matrix by rows, whose rows follow each other.
func (l *Libraries) transpose(s *Stream, t Type, rows, cols int, dst, src drv.DevicePtr) error {
	b, err := l.blas.get(lib.OpenBLAS)
	if err != nil {
		return err
	}
	h, err := l.blasHandle(s, b)
	if err != nil {
		return err
	}
	return b.Transpose(h, lib.Type(t), cols, rows, dst, rows, src, cols)
}
