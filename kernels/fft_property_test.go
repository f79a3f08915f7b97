// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"math/cmplx"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// fftShape draws a shape of one to three axes and a plan of any level.
func fftShape(t *rapid.T) (*FFT, []int) {
	limit := 1 << 12
	shape := rapid.SliceOfN(rapid.IntRange(1, limit), 1, 3).Draw(t, "shape")
	for i, n := range shape {
		shape[i] = max(1, min(n, limit))
		limit /= shape[i]
	}
	return NewFFTBatch(rapid.SampledFrom(Levels()).Draw(t, "level"), 1, shape...), shape
}

// Parseval: the norm of the spectrum is that of the array times the root of its size. Round trip: forward and inverse
// give the array times its size, in place too.
func TestFFTParsevalRoundTrip(t *testing.T) {
	ws := &FFTWorkspace{}
	rapid.Check(t, func(t *rapid.T) {
		p, _ := fftShape(t)
		x := complexNormals(p.size, rapid.Uint64().Draw(t, "seed"))
		y := make([]complex128, p.size)
		p.Complex128(y, x, false, ws)
		n := complex(float64(p.size), 0)
		if a, b := energy(x)*float64(p.size), energy(y); math.Abs(a-b) > 1e-13*a {
			t.Fatalf("energies %g and %g", a, b)
		}
		p.Complex128(y, y, true, ws)
		for i := range y {
			y[i] /= n
		}
		if d := relative(y, x); d > 3e-15*max(1, math.Log2(float64(p.size))) {
			t.Fatalf("round trip: relative error %g", d)
		}
	})
}

func energy(x []complex128) float64 {
	s := 0.0
	for _, v := range x {
		s += real(v)*real(v) + imag(v)*imag(v)
	}
	return s
}

// Linear: F(a x + y) = a F(x) + F(y). Shift: moving the array by d along the last axis turns X[k] by exp(-2 pi i k d/n).
func TestFFTLinearShift(t *testing.T) {
	ws := &FFTWorkspace{}
	rapid.Check(t, func(t *rapid.T) {
		p, shape := fftShape(t)
		last := shape[len(shape)-1]
		d := rapid.IntRange(0, last-1).Draw(t, "shift")
		a := complex(rapid.Float64Range(-2, 2).Draw(t, "re"), rapid.Float64Range(-2, 2).Draw(t, "im"))
		x, y := complexNormals(p.size, 1), complexNormals(p.size, 2)
		both, moved := make([]complex128, p.size), make([]complex128, p.size)
		for i := range x {
			both[i] = a*x[i] + y[i]
			moved[i/last*last+(i%last+d)%last] = x[i]
		}
		for _, z := range [][]complex128{x, y, both, moved} {
			p.Complex128(z, z, false, ws)
		}
		want, turned := make([]complex128, p.size), make([]complex128, p.size)
		for i := range x {
			want[i] = a*x[i] + y[i]
			turned[i] = x[i] * cmplx.Rect(1, -2*math.Pi*float64(i%last*d%last)/float64(last))
		}
		limit := 1e-14 * max(1, math.Log2(float64(p.size)))
		if e := relative(both, want); e > limit {
			t.Fatalf("not linear: %g", e)
		}
		if e := relative(moved, turned); e > limit {
			t.Fatalf("shift: %g", e)
		}
	})
}

// Real and complex transforms agree, and results are the same bits for any number of threads.
func TestFFTRealThreads(t *testing.T) {
	one, many := &FFTWorkspace{}, &FFTWorkspace{}
	rapid.Check(t, func(t *rapid.T) {
		p, shape := fftShape(t)
		many.Threads = rapid.IntRange(2, 5).Draw(t, "threads")
		last := shape[len(shape)-1]
		re := normals(p.size, rapid.Uint64().Draw(t, "seed"))
		full, half, again := make([]complex128, p.size), make([]complex128, p.half), make([]complex128, p.half)
		for i, v := range re {
			full[i] = complex(v, 0)
		}
		p.Complex128(full, full, false, one)
		p.Real64(half, re, one)
		p.Real64(again, re, many)
		var want []complex128
		for i, v := range full {
			if i%last <= last/2 {
				want = append(want, v)
			}
		}
		if d := relative(half, want); d > 2e-15*max(1, math.Log2(float64(p.size))) {
			t.Fatalf("real and complex differ by %g", d)
		}
		back, back2, full2 := make([]float64, p.size), make([]float64, p.size), append([]complex128(nil), full...)
		p.RealInverse64(back, half, one)
		p.RealInverse64(back2, half, many)
		p.Complex128(full, full, true, one)
		p.Complex128(full2, full2, true, many)
		for i := range half {
			if half[i] != again[i] {
				t.Fatalf("threads change number %d of the half spectrum: %g, %g", i, half[i], again[i])
			}
		}
		for i := range full {
			if full[i] != full2[i] || back[i] != back2[i] {
				t.Fatalf("threads change number %d", i)
			}
		}
	})
}

// Long lines against their definition at a few frequencies, and by Parseval.
func TestFFTLongLines(t *testing.T) {
	for _, l := range Levels() {
		for _, n := range []int{1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16, 4099, 65537, 30000, 6561, 15625, 2 * 4099, 1 << 12 * 7} {
			p, ws := NewFFTBatch(l, 1, n), &FFTWorkspace{}
			x, y, z := complexNormals(n, 3), make([]complex128, n), to64(complexNormals(n, 3))
			p.Complex128(y, x, false, ws)
			p.Complex64(z, z, false, ws)
			if a, b := energy(x)*float64(n), energy(y); math.Abs(a-b) > 1e-13*a {
				t.Errorf("%v %d: energies %g and %g", l, n, a, b)
			}
			norm := math.Sqrt(energy(x))
			for _, k := range []int{0, 1, 2, 3, n / 3, n/2 - 1, n / 2, n - 1} {
				var want complex128
				for j, v := range x {
					re, im := root(j*k%n, n)
					want += v * complex(re, im)
				}
				if e := cmplx.Abs(y[k]-want) / norm; e > 3e-14 {
					t.Errorf("%v %d: X[%d] is %v, want %v", l, n, k, y[k], want)
				}
				if e := cmplx.Abs(complex128(z[k])-want) / norm; e > 3e-6 {
					t.Errorf("%v %d float32: X[%d] is %v, want %v", l, n, k, z[k], want)
				}
			}
		}
	}
}

func TestFFTAllocatesNothing(t *testing.T) {
	for i, shape := range [][]int{{64, 64}, {8, 20, 33}, {4096}, {1009}, {35, 67}, {200, 200}} {
		p, ws := NewFFT(shape...), &FFTWorkspace{Threads: 1 + i%3}
		x, y, z := make([]float32, p.size), make([]complex64, p.half), make([]complex128, p.size)
		if NewFFT(shape...) != p {
			t.Errorf("%v has two plans", shape)
		}
		if n := testing.AllocsPerRun(3, func() {
			p.Real32(y, x, ws)
			p.RealInverse32(x, y, ws)
			p.Complex128(z, z, true, ws)
		}); n != 0 {
			t.Errorf("%v: %g allocations", shape, n)
		}
	}
}

func TestFFTMisuse(t *testing.T) {
	for name, f := range map[string]func(){
		"no axes":   func() { NewFFT() },
		"four axes": func() { NewFFT(2, 2, 2, 2) },
		"length 0":  func() { NewFFT(4, 0) },
		"too large": func() { NewFFT(1<<31-1, 1<<31-1, 1<<31-1) },
		"short dst": func() { NewFFT(4).Real32(make([]complex64, 2), make([]float32, 4), nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// One plan serves many goroutines, its tables made by whoever comes first.
func TestFFTShared(t *testing.T) {
	p := NewFFTBatch(Best(), 1, 23, 34)
	x := normals(p.size, 4)
	results := make([][]complex128, 4)
	var wait sync.WaitGroup
	for i := range results {
		wait.Go(func() {
			results[i] = make([]complex128, p.half)
			p.Real64(results[i], x, nil)
		})
	}
	wait.Wait()
	for _, r := range results[1:] {
		if relative(r, results[0]) != 0 {
			t.Error("goroutines that share a plan differ")
		}
	}
}

// Real transforms in one memory, the numbers at its end on the way forward and at its beginning on the way back, have
// the bits of those in two.
func TestFFTRealInPlace(t *testing.T) {
	ws := &FFTWorkspace{}
	rapid.Check(t, func(t *rapid.T) {
		p, shape := fftShape(t)
		if rapid.IntRange(0, 9).Draw(t, "long") == 0 { // lines that are transformed one by one
			shape = []int{rapid.IntRange(1, 2).Draw(t, "rows"), rapid.IntRange(1<<16, 1<<18).Draw(t, "length")}
			p = NewFFTBatch(Best(), 1, shape...)
		}
		x := normals(p.size, rapid.Uint64().Draw(t, "seed"))
		want, memory := make([]complex128, p.half), make([]complex128, p.half)
		p.Real64(want, x, ws)
		numbers := pairs64(memory)
		src := numbers[len(numbers)-p.size:]
		copy(src, x)
		p.Real64(memory, src, ws)
		if !slices.Equal(memory, want) {
			t.Fatalf("%v: forward differs", shape)
		}
		p.RealInverse64(x, want, ws)
		p.RealInverse64(numbers[:p.size], memory, ws)
		if !slices.Equal(numbers[:p.size], x) {
			t.Fatalf("%v: inverse differs", shape)
		}
	})
}
