// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64 && !purego

package kernels

var (
	sinCos64s     = map[Level]sinCosFn[float64]{AVX2: sincosF64AVX2, AVX512: sincosF64AVX512}
	sinCos32s     = map[Level]sinCosFn[float32]{AVX2: sincosF32AVX2, AVX512: sincosF32AVX512}
	addScaled64s  = map[Level]addScaledFn[float64]{AVX2: addScaledF64AVX2, AVX512: addScaledF64AVX512}
	addScaled32s  = map[Level]addScaledFn[float32]{AVX2: addScaledF32AVX2, AVX512: addScaledF32AVX512}
	pairSums64s   = map[Level]pairsFn[float64]{AVX2: pairSumsF64AVX2, AVX512: pairSumsF64AVX512}
	pairSums32s   = map[Level]pairsFn[float32]{AVX2: pairSumsF32AVX2, AVX512: pairSumsF32AVX512}
	spreadPair64s = map[Level]pairsFn[float64]{AVX2: spreadPairF64AVX2, AVX512: spreadPairF64AVX512}
	spreadPair32s = map[Level]pairsFn[float32]{AVX2: spreadPairF32AVX2, AVX512: spreadPairF32AVX512}

	philoxes        = map[Level]philoxFn{AVX2: philoxF64AVX2, AVX512: philoxF64AVX512}
	chainDeparts    = map[Level]chainDepartFn{AVX2: chainDepartF64AVX2, AVX512: chainDepartF64AVX2}
	chainArrives    = map[Level]chainArriveFn{AVX2: chainArriveF64AVX2, AVX512: chainArriveF64AVX2}
	normalQuantiles = map[Level]quantileFn{AVX2: normalQuantileF64AVX2, AVX512: normalQuantileF64AVX512}

	addCornerss = map[Level]addCornersFn{AVX2: addCornersF64AVX2, AVX512: addCornersF64AVX512}

	complexProduct64s = map[Level][2]Fn2x64{AVX2: {complexProductF64AVX2, complexProductConjF64AVX2}, AVX512: {complexProductF64AVX512, complexProductConjF64AVX512}}
	complexProduct32s = map[Level][2]Fn2x32{AVX2: {complexProductF32AVX2, complexProductConjF32AVX2}, AVX512: {complexProductF32AVX512, complexProductConjF32AVX512}}
)
