// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build arm64 && !purego

package kernels

func atan2AnyF64NEON(dst, y, x *float64, n int) { angles(dst, y, x, n, 4, atan2F64NEON) }
func atan2AnyF32NEON(dst, y, x *float32, n int) { angles(dst, y, x, n, 8, atan2F32NEON) }
