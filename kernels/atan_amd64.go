// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64 && !purego

package kernels

func atan2AnyF64AVX512(dst, y, x *float64, n int) { angles(dst, y, x, n, 8, atan2F64AVX512) }
func atan2AnyF32AVX512(dst, y, x *float32, n int) { angles(dst, y, x, n, 16, atan2F32AVX512) }
func atan2AnyF64AVX2(dst, y, x *float64, n int)   { angles(dst, y, x, n, 4, atan2F64AVX2) }
func atan2AnyF32AVX2(dst, y, x *float32, n int)   { angles(dst, y, x, n, 8, atan2F32AVX2) }
