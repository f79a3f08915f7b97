// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"os"
	"sync"
)

// Level is an instruction set that the kernels may use.
type Level int

const (
	PureGo Level = iota // plain Go loops, against which the tests compare the others
	AVX2                // 256-bit vectors with FMA
	AVX512              // 512-bit vectors; needs the extensions F, DQ, BW and VL
	NEON                // pairs of 128-bit vectors on arm64
)

// String returns "go", "avx2", "avx512" or "neon", the values that EURYALE_SIMD accepts.
func (l Level) String() string {
	switch l {
	case PureGo:
		return "go"
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	case NEON:
		return "neon"
	}
	return fmt.Sprintf("Level(%d)", int(l))
}

// Best returns the best level of this processor and build. The environment variable
// EURYALE_SIMD=go|avx2|avx512|neon, read once, can lower it; other values are ignored.
func Best() Level { return best() }

var best = sync.OnceValue(func() Level { return lowered(available(), os.Getenv("EURYALE_SIMD")) })

// lowered is the level of that name if a processor with the level top has it, otherwise top.
func lowered(top Level, name string) Level {
	for _, l := range upTo(top) {
		if l.String() == name {
			return l
		}
	}
	return top
}

// usable is l where the processor has it, and otherwise the best level below.
func usable(l Level) Level {
	switch top := available(); {
	case l >= top:
		return top
	case top == NEON:
		return PureGo
	}
	return l
}

// Levels returns all levels that this processor and build can run, PureGo first. It ignores
// EURYALE_SIMD.
func Levels() []Level { return upTo(available()) }

// upTo returns the levels of a processor whose best level is top.
func upTo(top Level) []Level {
	switch top {
	case AVX2:
		return []Level{PureGo, AVX2}
	case AVX512:
		return []Level{PureGo, AVX2, AVX512}
	case NEON:
		return []Level{PureGo, NEON}
	}
	return []Level{PureGo}
}
