// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build arm64 && !purego

package kernels

var (
	sinCos64s     = map[Level]sinCosFn[float64]{NEON: sincosF64NEON}
	sinCos32s     = map[Level]sinCosFn[float32]{NEON: sincosF32NEON}
	addScaled64s  = map[Level]addScaledFn[float64]{NEON: addScaledF64NEON}
	addScaled32s  = map[Level]addScaledFn[float32]{NEON: addScaledF32NEON}
	pairSums64s   = map[Level]pairsFn[float64]{NEON: pairSumsF64NEON}
	pairSums32s   = map[Level]pairsFn[float32]{NEON: pairSumsF32NEON}
	spreadPair64s = map[Level]pairsFn[float64]{NEON: spreadPairF64NEON}
	spreadPair32s = map[Level]pairsFn[float32]{NEON: spreadPairF32NEON}

	philoxes        = map[Level]philoxFn{NEON: philoxF64NEON}
	chainDeparts    = map[Level]chainDepartFn{NEON: chainDepartF64NEON}
	chainArrives    = map[Level]chainArriveFn{NEON: chainArriveF64NEON}
	normalQuantiles = map[Level]quantileFn{NEON: normalQuantileF64NEON}

	addCornerss = map[Level]addCornersFn{NEON: addCornersF64NEON}

	complexProduct64s = map[Level][2]Fn2x64{NEON: {complexProductF64NEON, complexProductConjF64NEON}}
	complexProduct32s = map[Level][2]Fn2x32{NEON: {complexProductF32NEON, complexProductConjF32NEON}}
)
