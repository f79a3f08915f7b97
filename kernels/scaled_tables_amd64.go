// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64 && !purego

package kernels

var (
	sinCos64s        = map[Level]sinCosFn[float64]{AVX2: sincosF64AVX2, AVX512: sincosF64AVX512}
	sinCos32s        = map[Level]sinCosFn[float32]{AVX2: sincosF32AVX2, AVX512: sincosF32AVX512}
	addScaled64s     = map[Level]addScaledFn[float64]{AVX2: addScaledF64AVX2, AVX512: addScaledF64AVX512}
	addScaled32s     = map[Level]addScaledFn[float32]{AVX2: addScaledF32AVX2, AVX512: addScaledF32AVX512}
	addScaledPair64s = map[Level]scaledPairFn[float64]{AVX2: addScaledPairF64AVX2, AVX512: addScaledPairF64AVX512}
	addScaledPair32s = map[Level]scaledPairFn[float32]{AVX2: addScaledPairF32AVX2, AVX512: addScaledPairF32AVX512}
	scaledPairSum64s = map[Level]scaledPairFn[float64]{AVX2: scaledPairSumF64AVX2, AVX512: scaledPairSumF64AVX512}
	scaledPairSum32s = map[Level]scaledPairFn[float32]{AVX2: scaledPairSumF32AVX2, AVX512: scaledPairSumF32AVX512}

	philoxes        = map[Level]philoxFn{AVX2: philoxF64AVX2, AVX512: philoxF64AVX512}
	normalQuantiles = map[Level]quantileFn{AVX2: normalQuantileF64AVX2, AVX512: normalQuantileF64AVX512}

	addCornerss = map[Level]addCornersFn{AVX2: addCornersF64AVX2, AVX512: addCornersF64AVX512}

	complexProduct64s = map[Level][2]Fn2x64{AVX2: {complexProductF64AVX2, complexProductConjF64AVX2}, AVX512: {complexProductF64AVX512, complexProductConjF64AVX512}}
	complexProduct32s = map[Level][2]Fn2x32{AVX2: {complexProductF32AVX2, complexProductConjF32AVX2}, AVX512: {complexProductF32AVX512, complexProductConjF32AVX512}}
)
