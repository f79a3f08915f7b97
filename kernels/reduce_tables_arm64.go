// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build arm64 && !purego

package kernels

var reduce64 = map[Level]map[string]FnR64{
	NEON: {"sum": sumF64NEON, "sumsq": sumsqF64NEON, "max": maxF64NEON, "min": minF64NEON},
}

var reduce32 = map[Level]map[string]FnR32{
	NEON: {"sum": sumF32NEON, "sumsq": sumsqF32NEON, "max": maxF32NEON, "min": minF32NEON},
}

var (
	dot64  = map[Level]func(a, b *float64, n int) float64{NEON: dotF64NEON}
	dot32  = map[Level]func(a, b *float32, n int) float64{NEON: dotF32NEON}
	fill64 = map[Level]func(dst *float64, v float64, n int){NEON: fillF64NEON}
	fill32 = map[Level]func(dst *float32, v float32, n int){NEON: fillF32NEON}
)
