// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64 && !purego

package kernels

import "math"

func sinAnyF64AVX512(dst, a *float64, n int) { trig(dst, a, n, 8, sinF64AVX512, math.Sin) }
func sinAnyF32AVX512(dst, a *float32, n int) { trig(dst, a, n, 16, sinF32AVX512, math.Sin) }
func sinAnyF64AVX2(dst, a *float64, n int)   { trig(dst, a, n, 4, sinF64AVX2, math.Sin) }
func sinAnyF32AVX2(dst, a *float32, n int)   { trig(dst, a, n, 8, sinF32AVX2, math.Sin) }
func cosAnyF64AVX512(dst, a *float64, n int) { trig(dst, a, n, 8, cosF64AVX512, math.Cos) }
func cosAnyF32AVX512(dst, a *float32, n int) { trig(dst, a, n, 16, cosF32AVX512, math.Cos) }
func cosAnyF64AVX2(dst, a *float64, n int)   { trig(dst, a, n, 4, cosF64AVX2, math.Cos) }
func cosAnyF32AVX2(dst, a *float32, n int)   { trig(dst, a, n, 8, cosF32AVX2, math.Cos) }
