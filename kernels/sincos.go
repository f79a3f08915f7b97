// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

// SinCos64 sets s = sin x and c = cos x in one pass, with the same bits as the kernels "sin" and
// "cos". It panics if the slices have different lengths. s and c must overlap neither each other
// nor x.
func SinCos64(s, c, x []float64) {
	if n := len(x); sameLength(n, len(s), len(c)) {
		best64.sincos(s, c, x)
	}
}

// SinCos32 is SinCos64 for float32.
func SinCos32(s, c, x []float32) {
	if n := len(x); sameLength(n, len(s), len(c)) {
		best32.sincos(s, c, x)
	}
}

// sinCosFn returns how many elements it did: it stops before the first one outside the range of its
// argument reduction.
type sinCosFn[T float] = func(s, c, x *T, n int) (done int)

// sinCos holds the kernels of one level.
type sinCos[T float] struct {
	both     sinCosFn[T]
	sin, cos func(dst, a *T, n int)
}

var (
	best64 = sinCosAt64(Best())
	best32 = sinCosAt32(Best())
)

func sinCosAt64(l Level) sinCos[float64] {
	return sinCos[float64]{one(l, nothing[float64], sinCos64s), Unary64(l, "sin"), Unary64(l, "cos")}
}

func sinCosAt32(l Level) sinCos[float32] {
	return sinCos[float32]{one(l, nothing[float32], sinCos32s), Unary32(l, "sin"), Unary32(l, "cos")}
}

func nothing[T float](_, _, _ *T, _ int) int { return 0 }

func (k *sinCos[T]) sincos(s, c, x []T) {
	done := k.both(&s[0], &c[0], &x[0], len(x))
	if done < len(x) {
		k.sin(&s[done], &x[done], len(x)-done)
		k.cos(&c[done], &x[done], len(x)-done)
	}
}
