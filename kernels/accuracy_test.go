// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"math/rand"
	"os"
	"strconv"
	"testing"
)

// bounds is the table of what the kernels promise, in units in the last place, and where it is sampled: x = sign *
// 10^u with u uniform in [low, high], and x uniform in [from, to].
var bounds = []struct {
	name               string
	float64s, float32s float64 // measured at 20 000 and 30 000 000 points, rounded up
	low, high          float64
	signs              bool
	from, to           float64
}{
	{"exp", 1.1, 1.1, -10, 2.85, true, -746, 710},
	{"exp2", 1.0, 1.0, -10, 3.03, true, -1075, 1024},
	{"expm1", 2.0, 1.8, -300, 2.85, true, -2, 2},
	{"log", 1.0, 0.9, -323, 308, false, 0.5, 2},
	{"log2", 0.9, 0.9, -323, 308, false, 0.5, 2},
	{"log1p", 1.0, 1.0, -300, 300, false, -0.99, 2},
	{"tanh", 1.4, 1.4, -300, 1.4, true, -2, 2},
	{"sigmoid", 1.0, 1.1, -10, 2.87, true, -10, 10},
	{"sigmoid_slope", 1.5, 1.5, -10, 2.85, true, -10, 10},
	{"softplus", 1.5, 1.7, -10, 2.85, true, -10, 10},
	{"sin", 0.9, 0.9, -300, 8.4, true, -10, 10},
	{"cos", 0.9, 0.9, -10, 8.4, true, -10, 10},
	{"atan", 1.1, 1.1, -300, 300, true, -3, 3},
	{"erf", 1.1, 1.2, -300, 0.8, true, -2, 2},
	{"erfc", 1.6, 2.0, -10, 1.43, false, -3, 6},
	{"rsqrt", 1.5, 1.5, -323, 308, false, 0.5, 2},
}

// points returns how many random points a test takes; EURYALE_POINTS takes more.
func points(n int) int {
	if v, err := strconv.Atoi(os.Getenv("EURYALE_POINTS")); err == nil {
		return v
	}
	if testing.Short() {
		return n / 4
	}
	return n
}

func TestAccuracy64(t *testing.T) {
	for _, c := range bounds {
		r := rand.New(rand.NewSource(7))
		n := points(600)
		if c.name == "erfc" {
			n /= 3
		}
		x, hi, lo := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range x {
			if i%2 == 0 {
				x[i] = math.Pow(10, c.low+(c.high-c.low)*r.Float64())
				if c.signs && r.Intn(2) == 0 {
					x[i] = -x[i]
				}
			} else {
				x[i] = c.from + (c.to-c.from)*r.Float64()
			}
			hi[i], lo[i] = reference(c.name, x[i])
		}
		got := make([]float64, n)
		for _, l := range Levels()[1:] {
			Unary64(l, c.name)(&got[0], &x[0], n)
			worst, at := 0.0, 0
			for i, g := range got {
				if e := ulps64(g, hi[i], lo[i]); !(e <= worst) {
					worst, at = e, i
				}
			}
			t.Logf("%v %s: %.2f ulp at %v", l, c.name, worst, x[at])
			if !(worst <= c.float64s) {
				t.Errorf("%v %s(%v) = %v, want %v: %.2f ulp, bound %v", l, c.name, x[at], got[at], hi[at], worst, c.float64s)
			}
		}
	}
}

// ulps64 is the distance of got from hi+lo in units in the last place of hi.
func ulps64(got, hi, lo float64) float64 {
	if got == hi || got != got && hi != hi {
		got = hi
		if math.IsInf(hi, 0) || hi != hi {
			return 0
		}
	}
	_, e := math.Frexp(hi)
	unit := math.Ldexp(1, max(e-53, -1074))
	return math.Abs((got-hi)/unit - lo/unit)
}

// TestAccuracy32 walks through all bit patterns with a stride.
func TestAccuracy32(t *testing.T) {
	stride := uint32(1<<32/uint64(points(200_000))) | 1
	var x []float32
	for b := uint32(0); ; b += stride {
		x = append(x, math.Float32frombits(b))
		if b > math.MaxUint32-stride {
			break
		}
	}
	got := make([]float32, len(x))
	for _, c := range bounds {
		want := make([]float64, len(x))
		for i, v := range x {
			want[i] = pure[c.name](float64(v))
		}
		for _, l := range Levels()[1:] {
			Unary32(l, c.name)(&got[0], &x[0], len(x))
			worst, at := 0.0, 0
			for i, g := range got {
				if e := ulps32(g, want[i]); !(e <= worst) {
					worst, at = e, i
				}
			}
			t.Logf("%v %s: %.2f ulp at %v", l, c.name, worst, x[at])
			if !(worst <= c.float32s) {
				t.Errorf("%v %s(%v) = %v, want %v: %.2f ulp, bound %v", l, c.name, x[at], got[at], want[at], worst, c.float32s)
			}
		}
	}
}

func ulps32(got float32, want float64) float64 {
	w := float32(want)
	if got == w || got != got && w != w {
		if math.IsInf(float64(w), 0) || w != w {
			return 0
		}
	}
	_, e := math.Frexp(float64(w))
	if math.IsInf(float64(w), 0) {
		e = 128
	}
	unit := math.Ldexp(1, max(e-24, -149))
	return math.Abs(float64(got)-want) / unit
}
