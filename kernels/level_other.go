// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build (!amd64 && !arm64) || purego

package kernels

func available() Level { return PureGo }

// There is nothing but pure Go in this build.
var (
	unary64           map[Level]map[string]Fn1x64
	unary32           map[Level]map[string]Fn1x32
	binary64          map[Level]map[string]Fn2x64
	binary32          map[Level]map[string]Fn2x32
	ternary64         map[Level]map[string]Fn3x64
	ternary32         map[Level]map[string]Fn3x32
	reduce64          map[Level]map[string]FnR64
	reduce32          map[Level]map[string]FnR32
	dot64             map[Level]func(a, b *float64, n int) float64
	dot32             map[Level]func(a, b *float32, n int) float64
	fill64            map[Level]func(dst *float64, v float64, n int)
	fill32            map[Level]func(dst *float32, v float32, n int)
	tiles64           map[Level]*tiles[float64]
	tiles32           map[Level]*tiles[float32]
	images64          [AVX512 + 1]*imageKernels[float64]
	images32          [AVX512 + 1]*imageKernels[float32]
	sinCos64s         map[Level]sinCosFn[float64]
	sinCos32s         map[Level]sinCosFn[float32]
	complexProduct64s map[Level][2]Fn2x64
	complexProduct32s map[Level][2]Fn2x32
	addCornerss       map[Level]addCornersFn
	addScaled64s      map[Level]addScaledFn[float64]
	addScaled32s      map[Level]addScaledFn[float32]
	pairSums64s       map[Level]pairsFn[float64]
	pairSums32s       map[Level]pairsFn[float32]
	spreadPair64s     map[Level]pairsFn[float64]
	spreadPair32s     map[Level]pairsFn[float32]
	philoxes          map[Level]philoxFn
	counting          map[Level]*countKernels
	chainDeparts      map[Level]chainDepartFn
	chainArrives      map[Level]chainArriveFn
	normalQuantiles   map[Level]quantileFn
	fft64             map[Level]*fftKernels[float64]
	fft32             map[Level]*fftKernels[float32]
)
