// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64 && !purego

package kernels

var reduce64 = map[Level]map[string]FnR64{
	AVX2:   {"sum": sumF64AVX2, "sumsq": sumsqF64AVX2, "max": maxF64AVX2, "min": minF64AVX2},
	AVX512: {"sum": sumF64AVX512, "sumsq": sumsqF64AVX512, "max": maxF64AVX512, "min": minF64AVX512},
}

var reduce32 = map[Level]map[string]FnR32{
	AVX2:   {"sum": sumF32AVX2, "sumsq": sumsqF32AVX2, "max": maxF32AVX2, "min": minF32AVX2},
	AVX512: {"sum": sumF32AVX512, "sumsq": sumsqF32AVX512, "max": maxF32AVX512, "min": minF32AVX512},
}

var (
	dot64  = map[Level]func(a, b *float64, n int) float64{AVX2: dotF64AVX2, AVX512: dotF64AVX512}
	dot32  = map[Level]func(a, b *float32, n int) float64{AVX2: dotF32AVX2, AVX512: dotF32AVX512}
	fill64 = map[Level]func(dst *float64, v float64, n int){AVX2: fillF64AVX2, AVX512: fillF64AVX512}
	fill32 = map[Level]func(dst *float32, v float32, n int){AVX2: fillF32AVX2, AVX512: fillF32AVX512}
)
