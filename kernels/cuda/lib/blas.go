// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lib

import (
	"unsafe"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// Type is the precision of numbers. Complex transforms work on pairs of them.
type Type int

// The precisions.
const (
	Float32 Type = iota
	Float64
)

// MathMode says how cuBLAS may round products of float32 numbers.
type MathMode int

// The modes: products as IEEE 754 demands, or products of operands rounded to the 10 bits of TF32,
// which are several times as fast.
const (
	IEEE MathMode = 0
	TF32 MathMode = 3
)

// Handle is a handle, a plan, a descriptor or a communicator of a library.
type Handle uintptr

// BLAS is an open cuBLAS library.
type BLAS struct {
	library
	create, destroy, setStream, setWorkspace, setMode uintptr
	gemm, gemmBatched, geam, trsm                     entry
}

// OpenBLAS finds and opens cuBLAS. The error wraps ErrNotFound.
func OpenBLAS() (BLAS, error) {
	o, err := load(specBLAS)
	if err != nil {
		return BLAS{}, err
	}
	o.version = o.property("cublasGetProperty")
	b := BLAS{library: o.library, create: o.need("cublasCreate_v2"), destroy: o.need("cublasDestroy_v2"), setStream: o.need("cublasSetStream_v2"),
		setWorkspace: o.need("cublasSetWorkspace_v2"), setMode: o.need("cublasSetMathMode"),
		gemm: o.both("cublas%sgemm_v2", "S", "D"), gemmBatched: o.both("cublas%sgemmStridedBatched", "S", "D"), geam: o.both("cublas%sgeam", "S", "D"),
		trsm: o.both("cublas%strsm_v2", "S", "D")}
	return b, o.done()
}

// Create makes a handle for the current context.
func (b BLAS) Create() (Handle, error) {
	h := new(Handle)
	err := b.call(b.create, "cublasCreate_v2", uintptr(unsafe.Pointer(h)))
	return *h, err
}

// Destroy frees a handle.
func (b BLAS) Destroy(h Handle) error { return b.call(b.destroy, "cublasDestroy_v2", uintptr(h)) }

// SetStream chooses the stream on which the calls of a handle run. Afterwards the handle uses its
// own workspace again.
func (b BLAS) SetStream(h Handle, s drv.Stream) error {
	return b.call(b.setStream, "cublasSetStream_v2", uintptr(h), uintptr(s))
}

// SetWorkspace gives a handle device memory for its work, at an address that is a multiple of 256.
func (b BLAS) SetWorkspace(h Handle, work drv.DevicePtr, bytes int) error {
	return b.call(b.setWorkspace, "cublasSetWorkspace_v2", uintptr(h), uintptr(work), uintptr(bytes))
}

// SetMathMode chooses how products are rounded.
func (b BLAS) SetMathMode(h Handle, m MathMode) error {
	return b.call(b.setMode, "cublasSetMathMode", uintptr(h), uintptr(m))
}

// GEMM is the product C = Alpha op(A) op(B) + Beta C of matrices stored by columns: op(A) is M by K
// and op(B) is K by N. LDA, LDB and LDC are the numbers of elements from one column to the next,
// and the strides are those from one matrix of a batch to the next.
type GEMM struct {
	M, N, K                   int
	TransA, TransB            bool
	Alpha, Beta               float64
	A, B, C                   drv.DevicePtr
	LDA, LDB, LDC             int
	StrideA, StrideB, StrideC int
	Batch                     int // number of products; 0 means a single one
}

func operation(transpose bool) uintptr {
	if transpose {
		return 1
	}
	return 0
}

// scalar is a number in the memory of the host, in either precision.
type scalar struct {
	single float32
	double float64
}

func newScalar(v float64) *scalar { return &scalar{float32(v), v} }

func (s *scalar) pointer(t Type) unsafe.Pointer {
	if t == Float64 {
		return unsafe.Pointer(&s.double)
	}
	return unsafe.Pointer(&s.single)
}

// Gemm puts a product of matrices on the handle's stream.
func (b BLAS) Gemm(h Handle, t Type, g GEMM) error {
	alpha, beta := newScalar(g.Alpha), newScalar(g.Beta)
	ta, tb, m, n, k := operation(g.TransA), operation(g.TransB), uintptr(g.M), uintptr(g.N), uintptr(g.K)
	if g.Batch == 0 {
		return b.call(b.gemm.address[t], b.gemm.name[t], uintptr(h), ta, tb, m, n, k, uintptr(alpha.pointer(t)), uintptr(g.A), uintptr(g.LDA),
			uintptr(g.B), uintptr(g.LDB), uintptr(beta.pointer(t)), uintptr(g.C), uintptr(g.LDC))
	}
	return b.call(b.gemmBatched.address[t], b.gemmBatched.name[t], uintptr(h), ta, tb, m, n, k, uintptr(alpha.pointer(t)),
		uintptr(g.A), uintptr(g.LDA), uintptr(g.StrideA), uintptr(g.B), uintptr(g.LDB), uintptr(g.StrideB),
		uintptr(beta.pointer(t)), uintptr(g.C), uintptr(g.LDC), uintptr(g.StrideC), uintptr(g.Batch))
}

// Transpose puts dst = src' on the handle's stream. By columns, src is rows by cols with ldSrc elements
// between columns, dst is cols by rows.
func (b BLAS) Transpose(h Handle, t Type, rows, cols int, dst drv.DevicePtr, ldDst int, src drv.DevicePtr, ldSrc int) error {
	one, zero := newScalar(1), newScalar(0)
	return b.call(b.geam.address[t], b.geam.name[t], uintptr(h), operation(true), operation(false), uintptr(cols), uintptr(rows),
		uintptr(one.pointer(t)), uintptr(src), uintptr(ldSrc), uintptr(zero.pointer(t)), uintptr(dst), uintptr(ldDst), uintptr(dst), uintptr(ldDst))
}

// TRSM is the system X op(A) = B, to be solved for X, with an N by N triangle A and an M by N
// matrix B, stored by columns.
type TRSM struct {
	M, N int
	// Upper says that the upper triangle of A holds the numbers, and Trans that its transpose is
	// used.
	Upper, Trans bool
	A, B         drv.DevicePtr
	LDA, LDB     int
}

// Trsm replaces B by X on the handle's stream.
func (b BLAS) Trsm(h Handle, t Type, s TRSM) error {
	const right, general = 1, 0
	one := newScalar(1)
	return b.call(b.trsm.address[t], b.trsm.name[t], uintptr(h), right, operation(s.Upper), operation(s.Trans), general, uintptr(s.M), uintptr(s.N),
		uintptr(one.pointer(t)), uintptr(s.A), uintptr(s.LDA), uintptr(s.B), uintptr(s.LDB))
}
