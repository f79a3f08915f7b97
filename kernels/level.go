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
)

// String returns "go", "avx2" or "avx512", the values that EURYALE_SIMD accepts.
func (l Level) String() string {
	switch l {
	case PureGo:
		return "go"
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	}
	return fmt.Sprintf("Level(%d)", int(l))
}

// Best returns the best level of this processor and build. The environment variable
// EURYALE_SIMD=go|avx2|avx512, read once, can lower it; other values are ignored.
func Best() Level { return best() }

var best = sync.OnceValue(func() Level { return lowered(available(), os.Getenv("EURYALE_SIMD")) })

// lowered is the level of that name if it is below top, otherwise top.
func lowered(top Level, name string) Level {
	for l := PureGo; l < top; l++ {
		if l.String() == name {
			return l
		}
	}
	return top
}

// Levels returns all levels that this processor and build can run, PureGo first. It ignores
// EURYALE_SIMD.
func Levels() []Level {
	ls := []Level{PureGo}
	for l := AVX2; l <= available(); l++ {
		ls = append(ls, l)
	}
	return ls
}
