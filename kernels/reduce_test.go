// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"math/rand"
	"testing"
	"unsafe"
)

// TestSumsAgree: the same bits at every level, and close to a sum in another order.
func TestSumsAgree(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for _, n := range append(lengths, 4096, 5001) {
		x, y := make([]float64, n+1)[:n], make([]float64, n+1)[:n]
		x32, y32 := make([]float32, n+1)[:n], make([]float32, n+1)[:n]
		for i := range x {
			x[i], y[i] = r.NormFloat64()*math.Exp(5*r.NormFloat64()), r.NormFloat64()
			x32[i], y32[i] = float32(x[i]), float32(y[i])
		}
		a, b, a32, b32 := unsafe.SliceData(x), unsafe.SliceData(y), unsafe.SliceData(x32), unsafe.SliceData(y32)
		var want []float64
		for _, l := range Levels() {
			got := []float64{Dot64(l)(a, b, n), Dot32(l)(a32, b32, n)}
			for _, name := range Names(0) {
				got = append(got, Reduce64(l, name)(a, n), Reduce32(l, name)(a32, n))
			}
			if want == nil {
				want = got
			}
			for i := range got {
				if !same(got[i], want[i]) {
					t.Errorf("%v n %d: reduction %d is %v, want %v", l, n, i, got[i], want[i])
				}
			}
		}
		plain, scale := 0.0, 0.0
		for _, v := range x {
			plain += v
			scale += math.Abs(v)
		}
		if got := Reduce64(PureGo, "sum")(a, n); math.Abs(got-plain) > 1e-13*scale {
			t.Errorf("n %d: sum %v, want %v", n, got, plain)
		}
	}
}

func TestExtremes(t *testing.T) {
	for _, l := range Levels() {
		for _, n := range lengths[1:] {
			for at := range n {
				x := make([]float64, n)
				x32 := make([]float32, n)
				for i := range x {
					x[i], x32[i] = math.Copysign(0, -1), float32(math.Copysign(0, -1))
				}
				check := func(v, largest, least float64) {
					x[at], x32[at] = v, float32(v)
					got := []float64{Reduce64(l, "max")(&x[0], n), Reduce32(l, "max")(&x32[0], n), Reduce64(l, "min")(&x[0], n), Reduce32(l, "min")(&x32[0], n)}
					for i, want := range []float64{largest, largest, least, least} {
						if !same(got[i], want) {
							t.Fatalf("%v n %d: %v at %d of zeros: reduction %d is %v, want %v", l, n, v, at, i, got[i], want)
						}
					}
				}
				check(math.NaN(), math.NaN(), math.NaN())
				if n > 1 {
					check(0, 0, math.Copysign(0, -1))
					check(7, 7, math.Copysign(0, -1))
					check(-7, math.Copysign(0, -1), -7)
					check(math.Inf(1), math.Inf(1), math.Copysign(0, -1))
				}
			}
		}
		if v := Reduce64(l, "max")(nil, 0); !math.IsInf(v, -1) {
			t.Errorf("%v: max of nothing is %v", l, v)
		}
		if v := Reduce32(l, "min")(nil, 0); !math.IsInf(v, 1) {
			t.Errorf("%v: min of nothing is %v", l, v)
		}
	}
}

func TestFill(t *testing.T) {
	for _, l := range Levels() {
		for _, n := range lengths {
			a, b := newFrame[float64](n), newFrame[float32](n)
			Fill64(l)(a.at(), 2.5, n)
			Fill32(l)(b.at(), 2.5, n)
			if !a.ok() || !b.ok() {
				t.Fatalf("%v: fill wrote outside %d elements", l, n)
			}
			for i := range n {
				if a.in()[i] != 2.5 || b.in()[i] != 2.5 {
					t.Fatalf("%v n %d: element %d is not filled", l, n, i)
				}
			}
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	x := operand[float64](300, 1, false)
	d := make([]float64, 300)
	for _, l := range Levels() {
		sin, add, sum := Unary64(l, "sin"), Binary64(l, "add"), Reduce64(l, "sum")
		x[17] = 1e12 // beyond the reduction of the assembly
		if n := testing.AllocsPerRun(10, func() {
			sin(&d[0], &x[0], 300)
			add(&d[0], &x[0], &d[0], 300)
			d[0] = sum(&d[0], 300)
		}); n != 0 {
			t.Errorf("%v: %v allocations", l, n)
		}
	}
}
