// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/kernels/cuda/lib"
)

// The methods of this file work on dense matrices by rows, whose rows follow each other. Their last
// argument is one int32 on the device, or one for each matrix of a batch: 0 for success, or the number,
// from 1, of the minor or pivot that stops the method. Some of the library's functions may wait for the
// device, and may then refuse to be captured.

// solverCall is the part of a call that all solver functions share.
type solverCall struct {
	l *Libraries
	s *Stream
	c lib.Solver
	h lib.Handle
	t lib.Type

	settings lib.Handle // of the singular value decomposition
}

func (l *Libraries) solve(s *Stream, t Type, name string, operands []operand, f func(c *solverCall) error) error {
	c, err := l.solver.get(lib.OpenSolver)
	if err != nil {
		return err
	}
	return l.run(s, name, operands, func() error {
		tool, err := l.take(s, solverKey{}, always, func() (*tool, error) { return solverHandle(c) })
		if err != nil {
			return err
		}
		if err := c.SetStream(tool.handle, s.handle); err != nil {
			return err
		}
		return f(&solverCall{l, s, c, tool.handle, lib.Type(t), tool.second})
	})
}

func solverHandle(c lib.Solver) (*tool, error) {
	h, err := c.Create()
	if err != nil {
		return nil, err
	}
	settings, err := c.CreateSVD()
	if err != nil {
		c.Destroy(h)
		return nil, err
	}
	return &tool{handle: h, second: settings, destroy: func() error { return errors.Join(c.DestroySVD(settings), c.Destroy(h)) }}, nil
}

// work returns room for some numbers. The first part of it is for the caller's own matrices; cuBLAS gets
// the same memory, so it is at least as large as what that needs, and lies behind it.
func (c *solverCall) work(numbers int) (drv.DevicePtr, error) {
	w, err := c.l.work(c.s, c.l.workBytes()+numbers*Type(c.t).Size())
	return w + drv.DevicePtr(c.l.workBytes()), err
}

// at returns the address of a number behind another.
func (c *solverCall) at(p drv.DevicePtr, numbers int) drv.DevicePtr {
	return p + drv.DevicePtr(numbers*Type(c.t).Size())
}

func (c *solverCall) transpose(rows, cols int, dst, src drv.DevicePtr) error {
	return c.l.transpose(c.s, Type(c.t), rows, cols, dst, src)
}

func (c *solverCall) copy(dst, src drv.DevicePtr, numbers int) error {
	return c.l.d.drv.CopyAsync(dst, src, uint64(numbers*Type(c.t).Size()), c.s.handle)
}

// Cholesky puts the factorisation A = LL' on a stream. It reads and writes the lower triangle of
// the n by n matrix. What stands above the diagonal afterwards is undefined: cuSOLVER uses it.
func (l *Libraries) Cholesky(s *Stream, t Type, n int, a, info Part) error {
	if err := fits32("Cholesky", n); err != nil || n == 0 {
		return err
	}
	operands := []operand{{"A", a, n * n, t.Size()}, {"info", info, 1, 4}}
	return l.solve(s, t, "Cholesky", operands, func(c *solverCall) error {
		lwork, err := c.c.PotrfSize(c.h, c.t, n, operands[0].address(), n)
		if err != nil {
			return err
		}
		w, err := c.work(lwork)
		if err != nil {
			return err
		}
		return c.c.Potrf(c.h, c.t, n, operands[0].address(), n, w, lwork, operands[1].address())
	})
}

// Addresses returns a buffer with the addresses of count pieces of memory, each stride bytes after
// the one before, for CholeskyBatch. Make it once, before a capture; it is valid as long as the
// memory is.
func (l *Libraries) Addresses(ctx context.Context, s *Stream, first Part, stride, count int) (*Buffer, error) {
	if first.Buffer == nil || count < 1 || stride < 0 {
		return nil, fmt.Errorf("%w: Addresses was given %d pieces with a stride of %d bytes: want a buffer, at least 1 piece, and a stride of at least 0", ErrArgument, count, stride)
	}
	if err := first.Buffer.usable(l.d, first.Offset, (count-1)*stride+1); err != nil {
		return nil, err
	}
	list := make([]uint64, count)
	for i := range list {
		list[i] = uint64(first.Buffer.b.address()) + uint64(first.Offset+i*stride)
	}
	b, err := s.Alloc(8 * count)
	if err != nil {
		return nil, err
	}
	if err := s.CopyIn(ctx, b, 0, list); err != nil {
		b.Free()
		return nil, err
	}
	return b, nil
}

// CholeskyBatch is Cholesky for count matrices that follow each other, whose addresses Addresses
// has returned. info holds count numbers.
func (l *Libraries) CholeskyBatch(s *Stream, t Type, n, count int, a Part, addresses *Buffer, info Part) error {
	if err := fits32("CholeskyBatch", n, count); err != nil || n == 0 || count == 0 {
		return err
	}
	operands := []operand{{"A", a, n * n * count, t.Size()}, {"addresses", Part{Buffer: addresses}, count, 8}, {"info", info, count, 4}}
	return l.solve(s, t, "CholeskyBatch", operands, func(c *solverCall) error {
		return c.c.PotrfBatched(c.h, c.t, n, operands[1].address(), n, operands[2].address(), count)
	})
}

// LU puts the factorisation PA = LU of an n by n matrix on a stream, in place, with partial pivoting. The
// unit diagonal of L is not stored. Pivots are n int32 numbers: row i was exchanged with row pivots[i],
// counted from 1.
func (l *Libraries) LU(s *Stream, t Type, n int, a, pivots, info Part) error {
	if err := fits32("LU", n); err != nil || n == 0 {
		return err
	}
	operands := []operand{{"A", a, n * n, t.Size()}, {"pivots", pivots, n, 4}, {"info", info, 1, 4}}
	return l.solve(s, t, "LU", operands, func(c *solverCall) error {
		at := operands[0].address()
		lwork, err := c.c.GetrfSize(c.h, c.t, n, n, at, n)
		if err != nil {
			return err
		}
		w, err := c.work(n*n + lwork)
		if err != nil {
			return err
		}
		if err := c.transpose(n, n, w, at); err != nil {
			return err
		}
		if err := c.c.Getrf(c.h, c.t, n, n, w, n, c.at(w, n*n), operands[1].address(), operands[2].address()); err != nil {
			return err
		}
		return c.transpose(n, n, at, w)
	})
}

// LUSolve puts the solution X of AX = B on a stream, in place of the n by k matrix B, with what LU
// returned for A.
func (l *Libraries) LUSolve(s *Stream, t Type, n, k int, lu, pivots, b, info Part) error {
	if err := fits32("LUSolve", n, k); err != nil || n == 0 || k == 0 {
		return err
	}
	operands := []operand{{"LU", lu, n * n, t.Size()}, {"pivots", pivots, n, 4}, {"B", b, n * k, t.Size()}, {"info", info, 1, 4}}
	return l.solve(s, t, "LUSolve", operands, func(c *solverCall) error {
		w, err := c.work(n*n + n*k)
		if err != nil {
			return err
		}
		right := c.at(w, n*n)
		err = c.transpose(n, n, w, operands[0].address())
		if err == nil {
			err = c.transpose(n, k, right, operands[2].address())
		}
		if err == nil {
			err = c.c.Getrs(c.h, c.t, false, n, k, w, n, operands[1].address(), right, n, operands[3].address())
		}
		if err != nil {
			return err
		}
		return c.transpose(k, n, operands[2].address(), right)
	})
}

// QR puts A = QR for an m by n matrix, m >= n, on a stream: Q is m by n with orthonormal columns and may
// be A, R is n by n and upper triangular, with zeros below. Its diagonal may be negative.
func (l *Libraries) QR(s *Stream, t Type, m, n int, a, q, r, info Part) error {
	if err := fits32("QR", m, n); err != nil || m == 0 || n == 0 {
		return err
	}
	if m < n {
		return fmt.Errorf("%w: QR was given a matrix of %d by %d: want at least as many rows as columns", ErrArgument, m, n)
	}
	operands := []operand{{"A", a, m * n, t.Size()}, {"Q", q, m * n, t.Size()}, {"R", r, n * n, t.Size()}, {"info", info, 1, 4}}
	return l.solve(s, t, "QR", operands, func(c *solverCall) error {
		at := operands[0].address()
		lwork, err := c.c.GeqrfSize(c.h, c.t, m, n, at, m)
		if err != nil {
			return err
		}
		more, err := c.c.OrgqrSize(c.h, c.t, m, n, n, at, m, at)
		if err != nil {
			return err
		}
		lwork = max(lwork, more)
		w, err := c.work(2*m*n + n + lwork)
		if err != nil {
			return err
		}
		byRows, tau := c.at(w, m*n), c.at(w, 2*m*n)
		rest := c.at(tau, n)
		// The factor by rows is m by n; R is its top.
		steps := []func() error{
			func() error { return c.transpose(m, n, w, at) },
			func() error { return c.c.Geqrf(c.h, c.t, m, n, w, m, tau, rest, lwork, operands[3].address()) },
			func() error { return c.transpose(n, m, byRows, w) },
			func() error { return c.copy(operands[2].address(), byRows, n*n) },
			func() error { return c.clearBelow(operands[2].address(), n) },
			func() error { return c.c.Orgqr(c.h, c.t, m, n, n, w, m, tau, rest, lwork, operands[3].address()) },
			func() error { return c.transpose(n, m, operands[1].address(), w) },
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
}

// clearBelow sets what is below the diagonal of an n by n matrix to 0, row by row.
func (c *solverCall) clearBelow(p drv.DevicePtr, n int) error {
	for i := 1; i < n; i++ {
		if err := c.l.d.drv.SetBytesAsync(c.at(p, i*n), 0, uint64(i*Type(c.t).Size()), c.s.handle); err != nil {
			return err
		}
	}
	return nil
}

// Eigh puts the eigenvalues of a symmetric n by n matrix, of which it reads the lower triangle, on a
// stream: w is ascending, and column i of A becomes the eigenvector of w[i].
func (l *Libraries) Eigh(s *Stream, t Type, n int, a, w, info Part) error {
	if err := fits32("Eigh", n); err != nil || n == 0 {
		return err
	}
	operands := []operand{{"A", a, n * n, t.Size()}, {"w", w, n, t.Size()}, {"info", info, 1, 4}}
	return l.solve(s, t, "Eigh", operands, func(c *solverCall) error {
		at, values := operands[0].address(), operands[1].address()
		lwork, err := c.c.SyevdSize(c.h, c.t, n, at, n, values)
		if err != nil {
			return err
		}
		work, err := c.work(n*n + lwork)
		if err != nil {
			return err
		}
		if err := c.copy(work, at, n*n); err != nil {
			return err
		}
		if err := c.c.Syevd(c.h, c.t, n, work, n, values, c.at(work, n*n), lwork, operands[2].address()); err != nil {
			return err
		}
		return c.transpose(n, n, at, work)
	})
}

// SVD puts A = U diag(S) V' for an m by n matrix on a stream: with k the smaller of both, U is m by
// k, S has k numbers, descending, and VT, the transpose of V, is k by n. A is not changed.
func (l *Libraries) SVD(s *Stream, t Type, m, n int, a, u, sv, vt, info Part) error {
	if err := fits32("SVD", m, n); err != nil || m == 0 || n == 0 {
		return err
	}
	k := min(m, n)
	operands := []operand{{"A", a, m * n, t.Size()}, {"U", u, m * k, t.Size()}, {"S", sv, k, t.Size()}, {"VT", vt, k * n, t.Size()}, {"info", info, 1, 4}}
	return l.solve(s, t, "SVD", operands, func(c *solverCall) error {
		// By columns the memory of A holds A' = V diag(S) U'.
		d := lib.SVD{M: n, N: m, A: operands[0].address(), S: operands[2].address(), U: operands[3].address(), V: operands[1].address(), LDA: n, LDU: n, LDV: m}
		lwork, err := c.c.GesvdjSize(c.h, c.t, d, c.settings)
		if err != nil {
			return err
		}
		w, err := c.work(m*n + m*k + lwork)
		if err != nil {
			return err
		}
		d.A, d.V = w, c.at(w, m*n)
		if err := c.copy(w, operands[0].address(), m*n); err != nil {
			return err
		}
		if err := c.c.Gesvdj(c.h, c.t, d, c.at(w, m*n+m*k), lwork, operands[4].address(), c.settings); err != nil {
			return err
		}
		return c.transpose(k, m, operands[1].address(), d.V)
	})
}
