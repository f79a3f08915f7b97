// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"math/rand"
	"testing"
	"unsafe"
)

// lengths are all up to 40, and those around powers of 2.
var lengths = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
	31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000}

// specials are the values at which formulas break.
var specials = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, -2, math.Inf(1), math.Inf(-1), math.NaN(),
	math.MaxFloat64, -math.MaxFloat64, 5e-324, -5e-324, 1e-310, -1e-310, 0x1p-1022, 0x1p-54, -0x1p-54, 0x1p-53,
	709.7, 709.78, 709.7827128933840, 709.7827128933841, 709.8, 710, -708, -709.5, -745.13, -745.14, -746, 1e5, -1e5,
	1e9, -1e9, 1e22, 36.7, 37, -37, 19.1, 0.625, 0.6249999, 1023, 1023.9999, 1024, -1074, -1074.9, -1075, -1076, 27.2,
	math.Pi, math.Pi / 2, math.Pi / 4, math.E, 1 - 0x1p-53, 1 + 0x1p-52, 0.75, 1.5, -1 + 0x1p-53, 2.5, -2.5, 0.1,
	math.MaxFloat32, -math.MaxFloat32, 1e-45, -1e-45, 1e-40, 0x1p-126, 0x1p-25, 88.72, 88.7228, 88.73, 89, -87.4, -103.9,
	-103.98, -104, 128, 127.99, -149, -149.9, -150, -151, 9.02, 10.05}

const guard = 25 // untouched elements on both sides, an odd number so that vectors are not aligned

// frame surrounds n elements with canaries.
type frame[T float] struct{ whole []T }

func newFrame[T float](n int) frame[T] {
	f := frame[T]{make([]T, n+2*guard)}
	for i := range f.whole {
		f.whole[i] = -12345
	}
	return f
}
func (f frame[T]) at() *T   { return unsafe.SliceData(f.whole[guard:]) }
func (f frame[T]) in() []T  { return f.whole[guard : len(f.whole)-guard] }
func (f frame[T]) ok() bool { return f.edge(0) && f.edge(len(f.whole)-guard) }
func (f frame[T]) edge(i int) bool {
	for _, v := range f.whole[i : i+guard] {
		if v != -12345 {
			return false
		}
	}
	return true
}

// operand is n values, special ones first if asked for, in another order for each seed.
func operand[T float](n int, seed int64, special bool) []T {
	r := rand.New(rand.NewSource(seed))
	x := make([]T, n+1)[:n] // never nil
	order := r.Perm(len(specials))
	for i := range x {
		if special && i < len(specials) {
			x[i] = T(specials[order[i]])
			continue
		}
		x[i] = T(r.NormFloat64() * math.Exp(2*r.NormFloat64()))
	}
	return x
}

// tolerance is what a kernel may differ from pure Go: its bound and that of package math.
func tolerance(name string, bits int) float64 {
	if name == "atan2" {
		name = "atan" // of the same bounds
	}
	for _, b := range bounds {
		if b.name == name && bits == 64 {
			return b.float64s + 2
		} else if b.name == name {
			return b.float32s + 0.6
		}
	}
	return 0 // exact
}

func distance[T float](got, want T) float64 {
	if same(got, want) {
		return 0
	}
	if got == want {
		return math.Inf(1) // zeros of different sign
	}
	if unsafe.Sizeof(got) == 8 {
		return ulps64(float64(got), float64(want), 0)
	}
	return ulps32(float32(got), float64(want))
}

type lookup[T float] struct {
	unary   func(Level, string) func(dst, a *T, n int)
	binary  func(Level, string) func(dst, a, b *T, n int)
	ternary func(Level, string) func(dst, a, b, c *T, n int)
}

// call runs the kernel of that name and number of operands.
func (k lookup[T]) call(l Level, name string, dst *T, x [][]T, n int) {
	p := func(i int) *T { return unsafe.SliceData(x[i]) }
	switch len(x) {
	case 1:
		k.unary(l, name)(dst, p(0), n)
	case 2:
		k.binary(l, name)(dst, p(0), p(1), n)
	case 3:
		k.ternary(l, name)(dst, p(0), p(1), p(2), n)
	}
}

func TestElementwise64(t *testing.T) {
	elementwise(t, 64, lookup[float64]{Unary64, Binary64, Ternary64})
}
func TestElementwise32(t *testing.T) {
	elementwise(t, 32, lookup[float32]{Unary32, Binary32, Ternary32})
}

// elementwise compares every kernel at every level with pure Go: all lengths, special values, in place, and nothing
// touched outside.
func elementwise[T float](t *testing.T, bits int, k lookup[T]) {
	for operands := 1; operands <= 3; operands++ {
		for _, name := range Names(operands) {
			for _, l := range Levels() {
				for _, n := range lengths {
					for seed := range int64(3) {
						x := make([][]T, operands)
						for i := range x {
							x[i] = operand[T](n, seed*10+int64(i), seed > 0)
						}
						compare(t, k, l, name, bits, x, n)
					}
				}
			}
		}
	}
}

func compare[T float](t *testing.T, k lookup[T], l Level, name string, bits int, x [][]T, n int) {
	t.Helper()
	want, got := newFrame[T](n), newFrame[T](n)
	k.call(PureGo, name, want.at(), x, n)
	k.call(l, name, got.at(), x, n)
	if !got.ok() {
		t.Fatalf("%v %s: wrote outside %d elements", l, name, n)
	}
	for i, g := range got.in() {
		w := want.in()[i]
		if (name == "sin" || name == "cos") && math.Abs(float64(g-w)) < 1e-16 {
			continue // package math loses digits next to the zeros
		}
		if d := distance(g, w); !(d <= tolerance(name, bits)) {
			t.Fatalf("%v %s float%d n %d: element %d is %v, want %v (%.2f ulp); operands %v", l, name, bits, n, i, g,
				w, d, at(x, i))
		}
	}
	for i := range x {
		place := newFrame[T](n)
		copy(place.in(), x[i])
		y := append([][]T(nil), x...)
		y[i] = place.in()
		k.call(l, name, place.at(), y, n)
		for j, g := range place.in() {
			if !place.ok() || !same(g, got.in()[j]) {
				t.Fatalf("%v %s n %d: in place of operand %d element %d is %v, not %v", l, name, n, i, j, g, got.in()[j])
			}
		}
	}
}

func at[T float](x [][]T, i int) []T {
	var v []T
	for _, s := range x {
		v = append(v, s[i])
	}
	return v
}

// TestScalarOperand puts the one element of b alone at the end of its memory.
func TestScalarOperand(t *testing.T) {
	for _, l := range Levels() {
		for _, name := range []string{"add_s", "sub_s", "mul_s", "div_s", "maximum_s", "minimum_s", "rsub_s", "rdiv_s"} {
			for _, b := range []float64{3, math.NaN(), math.Inf(-1), 0} {
				a := operand[float64](100, 1, true)
				got, want := make([]float64, 100), make([]float64, 100)
				s := b
				Binary64(l, name)(&got[0], &a[0], &s, 100)
				Binary64(PureGo, name)(&want[0], &a[0], &s, 100)
				for i := range got {
					if !same(got[i], want[i]) {
						t.Fatalf("%v %s(%v, %v) = %v, want %v", l, name, a[i], b, got[i], want[i])
					}
				}
			}
		}
	}
}

// TestValues pins PureGo itself, where package math has no function or another opinion.
func TestValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name    string
		x, want float64
	}{
		{"exp", 709.782712893384, 1.797693134862273e308}, {"exp", 709.7827128933841, inf}, {"exp", -746, 0},
		{"log", 0, -inf}, {"log", -1, nan}, {"log", 5e-324, -744.4400719213812}, {"log1p", -1, -inf},
		{"tanh", inf, 1}, {"tanh", -inf, -1}, {"sigmoid", -inf, 0}, {"sigmoid", inf, 1}, {"sigmoid", 0, 0.5},
		{"sigmoid", -740, 4.1995581e-322}, {"softplus", -inf, 0}, {"softplus", inf, inf}, {"softplus", 0, math.Ln2},
		{"softplus", -740, 4.1995581e-322}, {"sin", inf, nan}, {"cos", 0, 1}, {"atan", inf, math.Pi / 2}, {"atan", -inf, -math.Pi / 2}, {"atan", 1, math.Pi / 4}, {"atan", nan, nan},
		{"erf", -inf, -1}, {"erfc", inf, 0}, {"erfc", -inf, 2},
		{"rsqrt", 0, inf}, {"reciprocal", -inf, math.Copysign(0, -1)}, {"log2", 8, 3}, {"exp2", -1074, 5e-324},
	} {
		for _, l := range Levels() {
			var got float64
			Unary64(l, c.name)(&got, &c.x, 1)
			if !same(got, c.want) && !(math.Abs(got-c.want) <= 1e-12*math.Abs(c.want)+5e-324) {
				t.Errorf("%v %s(%v) = %v, want %v", l, c.name, c.x, got, c.want)
			}
		}
	}
}

// TestLevelsAgree checks that AVX2 and AVX-512 run the same formulas.
func TestLevelsAgree(t *testing.T) {
	if available() != AVX512 {
		t.Skip("one SIMD level only")
	}
	x := operand[float64](4000, 3, true)
	x32 := operand[float32](4000, 3, true)
	a, b := make([]float64, len(x)), make([]float64, len(x))
	a32, b32 := make([]float32, len(x)), make([]float32, len(x))
	for _, name := range Names(1) {
		Unary64(AVX2, name)(&a[0], &x[0], len(x))
		Unary64(AVX512, name)(&b[0], &x[0], len(x))
		Unary32(AVX2, name)(&a32[0], &x32[0], len(x))
		Unary32(AVX512, name)(&b32[0], &x32[0], len(x))
		for i := range x {
			if !same(a[i], b[i]) || !same(a32[i], b32[i]) {
				t.Errorf("%s(%v): %v with AVX2, %v with AVX-512; float32 %v: %v and %v", name, x[i], a[i], b[i], x32[i], a32[i], b32[i])
				break
			}
		}
	}
}

func TestUnknownName(t *testing.T) {
	for _, l := range Levels() {
		if Unary64(l, "gamma") != nil || Binary32(l, "") != nil || Reduce64(l, "mean") != nil {
			t.Errorf("%v: a kernel of an unknown name", l)
		}
		for operands := 1; operands <= 3; operands++ {
			for _, name := range Names(operands) {
				if Unary64(l, name) == nil && Binary64(l, name) == nil && Ternary64(l, name) == nil {
					t.Errorf("%v has no %s", l, name)
				}
			}
		}
	}
}
