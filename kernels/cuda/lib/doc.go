// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package lib calls NVIDIA's numerical libraries: cuBLAS for products of matrices, cuFFT for
// Fourier transforms, cuSOLVER for dense factorisations, cuDNN for convolutions, and NCCL for sums
// over several devices. All of them are optional and are opened at run time, as the driver is.
//
// [OpenBLAS], [OpenFFT], [OpenSolver], [OpenDNN] and [OpenNCCL] look for one library where
// installations put it; the error wraps [ErrNotFound] and lists every place that was tried. [Find]
// reports on all of them. A failed call returns an [*Error] with the library's own name of the
// status.
//
// The methods are the libraries' functions with typed arguments and nothing more: matrices are
// stored by columns, addresses are those of the device, and the caller has made the device's
// context current on the calling thread (drv.Driver.Enter). The scalars of products are read from
// the host before a call returns, so calls can be captured in graphs as long as the handles, plans
// and workspaces that they use exist before. Package cuda wraps all this for buffers and streams:
//
//	blas, err := lib.OpenBLAS()
//	if err != nil {
//		return err // names every file that was tried
//	}
//	h, err := blas.Create()
//	defer blas.Destroy(h)
//	err = errors.Join(blas.SetStream(h, stream), blas.SetWorkspace(h, work, 32<<20))
//	err = blas.Gemm(h, lib.Float32, lib.GEMM{M: m, N: n, K: k, Alpha: 1, A: a, LDA: m, B: b, LDB: k, C: c, LDC: m})
//
// cuBLASLt is only reported by Find. Its matrix product can add a bias and apply an activation,
// which our generated kernels fuse by themselves, and for plain products cuBLAS calls it
// internally.
//
// The names of all functions were checked against the libraries of CUDA 12.9 and 13; no call has
// been tested on a GPU yet.
package lib
