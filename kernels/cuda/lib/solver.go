// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lib

import (
	"unsafe"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// Solver is an open cuSOLVER library, of which the dense part is used.
type Solver struct {
	library
	create, destroy, setStream, createSVD, destroySVD       uintptr
	potrfSize, potrf, potrfBatched, getrfSize, getrf, getrs entry
	geqrfSize, geqrf, orgqrSize, orgqr                      entry
	syevdSize, syevd, gesvdjSize, gesvdj                    entry
}

// OpenSolver finds and opens cuSOLVER. The error wraps ErrNotFound.
func OpenSolver() (Solver, error) {
	o, err := load(specSolver)
	if err != nil {
		return Solver{}, err
	}
	o.version = dotted(o.number("cusolverGetVersion"), 1000, 100)
	both := func(name string) entry { return o.both("cusolverDn%s"+name, "S", "D") }
	s := Solver{library: o.library, create: o.need("cusolverDnCreate"), destroy: o.need("cusolverDnDestroy"), setStream: o.need("cusolverDnSetStream"),
		createSVD: o.need("cusolverDnCreateGesvdjInfo"), destroySVD: o.need("cusolverDnDestroyGesvdjInfo"),
		potrfSize: both("potrf_bufferSize"), potrf: both("potrf"), potrfBatched: both("potrfBatched"),
		getrfSize: both("getrf_bufferSize"), getrf: both("getrf"), getrs: both("getrs"),
		geqrfSize: both("geqrf_bufferSize"), geqrf: both("geqrf"), orgqrSize: both("orgqr_bufferSize"), orgqr: both("orgqr"),
		syevdSize: both("syevd_bufferSize"), syevd: both("syevd"), gesvdjSize: both("gesvdj_bufferSize"), gesvdj: both("gesvdj")}
	return s, o.done()
}

// Create makes a handle for the current context.
func (l Solver) Create() (Handle, error) {
	h := new(Handle)
	err := l.call(l.create, "cusolverDnCreate", uintptr(unsafe.Pointer(h)))
	return *h, err
}

// Destroy frees a handle.
func (l Solver) Destroy(h Handle) error { return l.call(l.destroy, "cusolverDnDestroy", uintptr(h)) }

// CreateSVD makes the settings of Gesvdj, with the library's default tolerance and number of
// sweeps.
func (l Solver) CreateSVD() (Handle, error) {
	h := new(Handle)
	err := l.call(l.createSVD, "cusolverDnCreateGesvdjInfo", uintptr(unsafe.Pointer(h)))
	return *h, err
}

// DestroySVD frees the settings.
func (l Solver) DestroySVD(h Handle) error {
	return l.call(l.destroySVD, "cusolverDnDestroyGesvdjInfo", uintptr(h))
}

// SetStream chooses the stream on which the calls of a handle run.
func (l Solver) SetStream(h Handle, s drv.Stream) error {
	return l.call(l.setStream, "cusolverDnSetStream", uintptr(h), uintptr(s))
}

// upper is the triangle that Potrf and Syevd read, by columns: the lower one by rows.
const upper = 1

// Matrices are by columns. Sizes of work are in numbers of the type; info is one int32 of the device,
// 0 for success and i if the i-th pivot or minor stops the method. Where Lwork is asked for, the
// function of the same name does the work.

// PotrfSize returns the size of the workspace of Potrf, in numbers.
func (l Solver) PotrfSize(h Handle, t Type, n int, a drv.DevicePtr, lda int) (int, error) {
	w := new(int32)
	err := l.call(l.potrfSize.address[t], l.potrfSize.name[t], uintptr(h), upper, uintptr(n), uintptr(a), uintptr(lda), uintptr(unsafe.Pointer(w)))
	return int(*w), err
}

// Potrf factors the upper triangle of A into U'U, in place.
func (l Solver) Potrf(h Handle, t Type, n int, a drv.DevicePtr, lda int, work drv.DevicePtr, lwork int, info drv.DevicePtr) error {
	return l.call(l.potrf.address[t], l.potrf.name[t], uintptr(h), upper, uintptr(n), uintptr(a), uintptr(lda), uintptr(work), uintptr(lwork), uintptr(info))
}

// PotrfBatched does the same for many matrices, whose addresses are stored in device memory.
func (l Solver) PotrfBatched(h Handle, t Type, n int, addresses drv.DevicePtr, lda int, info drv.DevicePtr, batch int) error {
	return l.call(l.potrfBatched.address[t], l.potrfBatched.name[t], uintptr(h), upper, uintptr(n), uintptr(addresses), uintptr(lda), uintptr(info), uintptr(batch))
}

// GetrfSize returns the size of the workspace of Getrf, in numbers.
func (l Solver) GetrfSize(h Handle, t Type, m, n int, a drv.DevicePtr, lda int) (int, error) {
	w := new(int32)
	err := l.call(l.getrfSize.address[t], l.getrfSize.name[t], uintptr(h), uintptr(m), uintptr(n), uintptr(a), uintptr(lda), uintptr(unsafe.Pointer(w)))
	return int(*w), err
}

// Getrf factors A into PLU, in place. The pivots are min(m, n) int32 row numbers, counted from 1.
func (l Solver) Getrf(h Handle, t Type, m, n int, a drv.DevicePtr, lda int, work, pivots, info drv.DevicePtr) error {
	return l.call(l.getrf.address[t], l.getrf.name[t], uintptr(h), uintptr(m), uintptr(n), uintptr(a), uintptr(lda), uintptr(work), uintptr(pivots), uintptr(info))
}

// Getrs solves op(A) X = B with the factors of Getrf. X replaces B, which has k columns.
func (l Solver) Getrs(h Handle, t Type, transpose bool, n, k int, a drv.DevicePtr, lda int, pivots, b drv.DevicePtr, ldb int, info drv.DevicePtr) error {
	return l.call(l.getrs.address[t], l.getrs.name[t], uintptr(h), operation(transpose), uintptr(n), uintptr(k), uintptr(a), uintptr(lda), uintptr(pivots),
		uintptr(b), uintptr(ldb), uintptr(info))
}

// GeqrfSize returns the size of the workspace of Geqrf, in numbers.
func (l Solver) GeqrfSize(h Handle, t Type, m, n int, a drv.DevicePtr, lda int) (int, error) {
	w := new(int32)
	err := l.call(l.geqrfSize.address[t], l.geqrfSize.name[t], uintptr(h), uintptr(m), uintptr(n), uintptr(a), uintptr(lda), uintptr(unsafe.Pointer(w)))
	return int(*w), err
}

// Geqrf factors A into R and min(m, n) reflectors, in place; their scalar factors are written to
// tau.
func (l Solver) Geqrf(h Handle, t Type, m, n int, a drv.DevicePtr, lda int, tau, work drv.DevicePtr, lwork int, info drv.DevicePtr) error {
	return l.call(l.geqrf.address[t], l.geqrf.name[t], uintptr(h), uintptr(m), uintptr(n), uintptr(a), uintptr(lda), uintptr(tau), uintptr(work), uintptr(lwork), uintptr(info))
}

// OrgqrSize returns the size of the workspace of Orgqr, in numbers.
func (l Solver) OrgqrSize(h Handle, t Type, m, n, k int, a drv.DevicePtr, lda int, tau drv.DevicePtr) (int, error) {
	w := new(int32)
	err := l.call(l.orgqrSize.address[t], l.orgqrSize.name[t], uintptr(h), uintptr(m), uintptr(n), uintptr(k), uintptr(a), uintptr(lda), uintptr(tau), uintptr(unsafe.Pointer(w)))
	return int(*w), err
}

// Orgqr turns the first k reflectors of Geqrf into the m by n matrix Q, in place.
func (l Solver) Orgqr(h Handle, t Type, m, n, k int, a drv.DevicePtr, lda int, tau, work drv.DevicePtr, lwork int, info drv.DevicePtr) error {
	return l.call(l.orgqr.address[t], l.orgqr.name[t], uintptr(h), uintptr(m), uintptr(n), uintptr(k), uintptr(a), uintptr(lda), uintptr(tau), uintptr(work), uintptr(lwork), uintptr(info))
}

// SyevdSize returns the size of the workspace of Syevd, in numbers.
func (l Solver) SyevdSize(h Handle, t Type, n int, a drv.DevicePtr, lda int, w drv.DevicePtr) (int, error) {
	size := new(int32)
	err := l.call(l.syevdSize.address[t], l.syevdSize.name[t], uintptr(h), 1, upper, uintptr(n), uintptr(a), uintptr(lda), uintptr(w), uintptr(unsafe.Pointer(size)))
	return int(*size), err
}

// Syevd finds the eigenvalues w of the symmetric matrix A, in ascending order, and writes the
// eigenvectors to the columns of A.
func (l Solver) Syevd(h Handle, t Type, n int, a drv.DevicePtr, lda int, w, work drv.DevicePtr, lwork int, info drv.DevicePtr) error {
	return l.call(l.syevd.address[t], l.syevd.name[t], uintptr(h), 1, upper, uintptr(n), uintptr(a), uintptr(lda), uintptr(w), uintptr(work), uintptr(lwork), uintptr(info))
}

// SVD is the decomposition A = U diag(S) V' of an m by n matrix by columns; with k the smaller of both,
// U is m by k and V n by k. A is overwritten.
type SVD struct {
	M, N          int
	A, S, U, V    drv.DevicePtr
	LDA, LDU, LDV int
}

// GesvdjSize returns the size of the workspace of Gesvdj, in numbers.
func (l Solver) GesvdjSize(h Handle, t Type, d SVD, settings Handle) (int, error) {
	w := new(int32)
	err := l.call(l.gesvdjSize.address[t], l.gesvdjSize.name[t], uintptr(h), 1, 1, uintptr(d.M), uintptr(d.N), uintptr(d.A), uintptr(d.LDA), uintptr(d.S),
		uintptr(d.U), uintptr(d.LDU), uintptr(d.V), uintptr(d.LDV), uintptr(unsafe.Pointer(w)), uintptr(settings))
	return int(*w), err
}

// Gesvdj finds the singular values, in descending order, and the singular vectors by Jacobi
// rotations.
func (l Solver) Gesvdj(h Handle, t Type, d SVD, work drv.DevicePtr, lwork int, info drv.DevicePtr, settings Handle) error {
	return l.call(l.gesvdj.address[t], l.gesvdj.name[t], uintptr(h), 1, 1, uintptr(d.M), uintptr(d.N), uintptr(d.A), uintptr(d.LDA), uintptr(d.S),
		uintptr(d.U), uintptr(d.LDU), uintptr(d.V), uintptr(d.LDV), uintptr(work), uintptr(lwork), uintptr(info), uintptr(settings))
}
