// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"math/big"
	"math/rand"
	"testing"
)

// bigAtan2 is the angle of a point in two parts. Neither coordinate is 0.
func bigAtan2(y, x float64) (hi, lo float64) {
	const prec = 200
	t := new(big.Float).Quo(num(prec, math.Abs(y)), num(prec, math.Abs(x)))
	turned := t.Cmp(num(prec, 1)) > 0
	if turned {
		t.Quo(num(prec, 1), t)
	}
	a, pi := bigAtan(t), constantsOf(prec).pi
	if turned {
		a.Sub(new(big.Float).Quo(pi, num(prec, 2)), a)
	}
	if x < 0 {
		a.Sub(pi, a)
	}
	if y < 0 {
		a.Neg(a)
	}
	hi, _ = a.Float64()
	lo, _ = a.Sub(a, num(prec, hi)).Float64()
	return hi, lo
}

// somewhere returns coordinates of random points: near each other in size, at the edges of the formulas, or of any size
// up to 10^widest.
func somewhere(r *rand.Rand, widest float64) (y, x float64) {
	sign := func(v float64) float64 { return math.Copysign(v, r.Float64()-0.5) }
	switch r.Intn(4) {
	case 0:
		return r.NormFloat64(), r.NormFloat64()
	case 1: // next to a quotient of 1/2, 1 or 2
		x = 1 + r.Float64()
		return sign(x * math.Ldexp(1+1e-6*r.NormFloat64(), r.Intn(3)-1)), sign(x)
	case 2:
		return sign(math.Pow(10, widest*(2*r.Float64()-1))), sign(math.Pow(10, widest*(2*r.Float64()-1)))
	}
	s := math.Pow(10, widest*(2*r.Float64()-1))
	return s * r.NormFloat64(), s * r.NormFloat64()
}

// Angles of points in every direction are within the bounds of atan.
func TestAtan2Accuracy(t *testing.T) {
	r := rand.New(rand.NewSource(8))
	n := points(4000)
	y, x, hi, lo := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	y32, x32, want32 := make([]float32, n), make([]float32, n), make([]float64, n)
	for i := range y {
		y[i], x[i] = somewhere(r, 300)
		hi[i], lo[i] = bigAtan2(y[i], x[i])
		a, b := somewhere(r, 37)
		y32[i], x32[i] = float32(a), float32(b)
		want32[i] = math.Atan2(float64(y32[i]), float64(x32[i]))
	}
	got, got32 := make([]float64, n), make([]float32, n)
	for _, l := range Levels()[1:] {
		Binary64(l, "atan2")(&got[0], &y[0], &x[0], n)
		Binary32(l, "atan2")(&got32[0], &y32[0], &x32[0], n)
		worst, worst32 := 0.0, 0.0
		for i := range got {
			e, e32 := ulps64(got[i], hi[i], lo[i]), ulps32(got32[i], want32[i])
			if worst = max(worst, e); !(e <= 1.1) {
				t.Fatalf("%v atan2(%v, %v) = %v, want %v: %.2f ulp", l, y[i], x[i], got[i], hi[i], e)
			}
			if worst32 = max(worst32, e32); !(e32 <= 1.1) {
				t.Fatalf("%v float32 atan2(%v, %v) = %v, want %v: %.2f ulp", l, y32[i], x32[i], got32[i], want32[i], e32)
			}
		}
		t.Logf("%v atan2: %.2f ulp, %.2f of float32", l, worst, worst32)
	}
}

// Every pair of special values has the angle of package math and the sign of y, whatever its neighbours are.
func TestAtan2Corners(t *testing.T) {
	for _, l := range Levels() {
		cornersOfAtan2(t, l, Binary64(l, "atan2"))
		cornersOfAtan2(t, l, Binary32(l, "atan2"))
	}
}

func cornersOfAtan2[T float](t *testing.T, l Level, atan2 func(dst, y, x *T, n int)) {
	t.Helper()
	for _, b := range specials {
		y, x, got := make([]T, len(specials)), make([]T, len(specials)), make([]T, len(specials))
		for i, a := range specials {
			y[i], x[i] = T(a), T(b)
		}
		atan2(&got[0], &y[0], &x[0], len(y))
		for i, g := range got {
			want := T(math.Copysign(math.Atan2(float64(y[i]), float64(x[i])), float64(y[i]))) // math.Atan2(-5e-324, -2) is above 0
			if d := distance(g, want); !(d <= 1.6) {
				t.Errorf("%v %T atan2(%v, %v) = %v, want %v", l, g, y[i], x[i], g, want)
			}
			var alone T
			if atan2(&alone, &y[i], &x[i], 1); !sameBits(alone, g) {
				t.Errorf("%v %T atan2(%v, %v) is %v alone and %v in a row", l, g, y[i], x[i], alone, g)
			}
		}
	}
}
