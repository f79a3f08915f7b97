// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"unsafe"
)

type float interface{ float32 | float64 }

// pure holds the scalar functions of the unary kernels; float32 computes in float64 and rounds once.
var pure = map[string]func(float64) float64{
	"neg":        func(x float64) float64 { return -x },
	"abs":        math.Abs,
	"sqrt":       math.Sqrt,
	"rsqrt":      func(x float64) float64 { return 1 / math.Sqrt(x) },
	"reciprocal": func(x float64) float64 { return 1 / x },
	"square":     func(x float64) float64 { return x * x },
	"exp":        exp,
	"exp2":       math.Exp2,
	"expm1":      expm1,
	"log":        log,
	"log2":       log2,
	"log1p":      math.Log1p,
	"tanh":       math.Tanh,
	"sigmoid":    sigmoid,

	"sigmoid_slope": sigmoidSlope,
	"softplus":      softplus,
	"sin":           math.Sin,
	"cos":           math.Cos,
	"atan":          math.Atan,
	"erf":           math.Erf,
	"erfc":          math.Erfc,
	"floor":         math.Floor,
	"ceil":          math.Ceil,
	"trunc":         math.Trunc,
}

var (
	pureUnary64 = unaryLoops[float64]()
	pureUnary32 = unaryLoops[float32]()
)

func unaryLoops[T float]() map[string]func(dst, a *T, n int) {
	loops := map[string]func(dst, a *T, n int){
		"neg": func(dst, a *T, n int) {
			d, s := pair(dst, a, n)
			for i, v := range s {
				d[i] = -v
			}
		},
		"square": func(dst, a *T, n int) {
			d, s := pair(dst, a, n)
			for i, v := range s {
				d[i] = v * v
			}
		},
		"reciprocal": func(dst, a *T, n int) {
			d, s := pair(dst, a, n)
			for i, v := range s {
				d[i] = 1 / v
			}
		},
	}
	for name, f := range pure {
		if loops[name] != nil {
			continue
		}
		loops[name] = func(dst, a *T, n int) {
			d, s := pair(dst, a, n)
			for i, v := range s {
				d[i] = T(f(float64(v)))
			}
		}
	}
	return loops
}

// pair returns the n elements at dst and at a.
func pair[T float](dst, a *T, n int) (d, s []T) {
	if n <= 0 {
		return nil, nil
	}
	return unsafe.Slice(dst, n), unsafe.Slice(a, n)
}

// exp is math.Exp without its overflow at 709.7 on amd64, which is too early.
func exp(x float64) float64 {
	if x > 709 && x < 709.7827128933841 {
		return math.Exp(x-1) * math.E
	}
	return math.Exp(x)
}

// expm1 is math.Expm1 without its overflow at too small an argument.
func expm1(x float64) float64 {
	if x > 700 {
		return exp(x)
	}
	return math.Expm1(x)
}

// log is math.Log with correct results for subnormal numbers, which math.Log takes for the smallest normal one on amd64.
func log(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// log2 is math.Log2 without its loss of sign and digits near 1 (where log2(1-2^-53) is 1 - 1).
func log2(x float64) float64 {
	if x > 0.7 && x < 1.5 {
		f := x - 1
		return math.Log1p(f) * math.Log2E
	}
	return math.Log2(x)
}

func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

func sigmoidSlope(x float64) float64 {
	s := sigmoid(-math.Abs(x))
	return s * (1 - s)
}

func softplus(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}
