// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package kernels implements arithmetic on whole slices, in SIMD assembly and in pure Go.
//
// A kernel is a plain function of pointers and a length. Look it up once by instruction set and
// name, keep the function, call it on tiles:
//
//	exp := kernels.Unary64(kernels.Best(), "exp") // nil if there is no kernel of that name
//	exp(&dst[0], &a[0], len(a))                   // dst[i] = exp(a[i])
//
// Every kernel takes any length n >= 0, touches nothing outside its n elements and allows dst to be
// one of its operands. Special values follow package math. Sums have one order that depends on n
// alone: all levels give the same bits. Gemm64 and Gemm32 multiply matrices with packed panels; a
// Workspace keeps their buffers. CountProduct multiplies whole numbers below 128 exactly. FFT plans Fourier transforms of arrays of one to three axes, any
// lengths. Slide64, WeightedRows64 and Nonzero64, which serve convolutions of images, read and
// write whole vectors: see Room.
//
// Error bounds in units in the last place are asserted by the table in accuracy_test.go.
package kernels

//go:generate go run -C gen . -kind elementwise -out ../elementwise_amd64.s -stubs ../elementwise_amd64.go -pkg kernels -table ../tables_amd64.go
//go:generate go run -C gen . -kind reduce -out ../reduce_amd64.s -stubs ../reduce_amd64.go -pkg kernels
//go:generate go run -C gen . -kind gemm -out ../gemm_amd64.s -stubs ../gemm_amd64.go -pkg kernels -table ../gemm_tables_amd64.go
//go:generate go run -C gen . -kind images -out ../images_amd64.s -stubs ../images_amd64.go -pkg kernels -table ../images_tables_amd64.go
//go:generate go run -C gen . -kind fft -out ../fft_amd64.s -stubs ../fft_amd64.go -pkg kernels -table ../fft_tables_amd64.go
//go:generate go run -C gen . -kind random -out ../random_amd64.s -stubs ../random_amd64.go -pkg kernels
//go:generate go run -C gen . -kind chain -out ../chain_amd64.s -stubs ../chain_amd64.go -pkg kernels
//go:generate go run -C gen . -kind counts -out ../counts_amd64.s -stubs ../counts_amd64.go -pkg kernels
//go:generate go run -C gen . -arch arm64 -kind elementwise -out ../elementwise_arm64.s -stubs ../elementwise_arm64.go -pkg kernels -table ../tables_arm64.go
//go:generate go run -C gen . -arch arm64 -kind reduce -out ../reduce_arm64.s -stubs ../reduce_arm64.go -pkg kernels
//go:generate go run -C gen . -arch arm64 -kind gemm -out ../gemm_arm64.s -stubs ../gemm_arm64.go -pkg kernels -table ../gemm_tables_arm64.go
//go:generate go run -C gen . -arch arm64 -kind images -out ../images_arm64.s -stubs ../images_arm64.go -pkg kernels -table ../images_tables_arm64.go
//go:generate go run -C gen . -arch arm64 -kind fft -out ../fft_arm64.s -stubs ../fft_arm64.go -pkg kernels -table ../fft_tables_arm64.go
//go:generate go run -C gen . -arch arm64 -kind random -out ../random_arm64.s -stubs ../random_arm64.go -pkg kernels
//go:generate go run -C gen . -arch arm64 -kind chain -out ../chain_arm64.s -stubs ../chain_arm64.go -pkg kernels
