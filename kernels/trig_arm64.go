// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build arm64 && !purego

package kernels

import "math"

func sinAnyF64NEON(dst, a *float64, n int) { trig(dst, a, n, 4, sinF64NEON, math.Sin) }
func sinAnyF32NEON(dst, a *float32, n int) { trig(dst, a, n, 8, sinF32NEON, math.Sin) }
func cosAnyF64NEON(dst, a *float64, n int) { trig(dst, a, n, 4, cosF64NEON, math.Cos) }
func cosAnyF32NEON(dst, a *float32, n int) { trig(dst, a, n, 8, cosF32NEON, math.Cos) }
