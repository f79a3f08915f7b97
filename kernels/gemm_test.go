// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
)

// shape is one product of the tests.
type shape struct {
	m, n, k        int
	transA, transB bool
	alpha, beta    float64
}

func shapes() []shape {
	r := rand.New(rand.NewSource(3))
	sizes := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 24, 25, 31, 33, 47, 48, 49, 64, 70, 97, 130}
	depths := []int{0, 1, 2, 3, 7, 8, 9, 16, 31, 64, 65, 255, 256, 257, 300, 600}
	var list []shape
	add := func(m, n, k int) {
		for t := range 4 {
			s := shape{m: m, n: n, k: k, transA: t&1 != 0, transB: t&2 != 0, alpha: 1}
			switch r.Intn(4) {
			case 0:
				s.beta = 1
			case 1:
				s.alpha, s.beta = -0.5, 0.75
			case 2:
				s.alpha = 2
			}
			list = append(list, s)
		}
	}
	for i := 1; i <= 18; i++ {
		add(i, i, i)
		add(1, 9*i, 5*i)
		add(7*i, 1, 3*i)
		add(i, 50-i, 20)
	}
	for range points(80) {
		add(sizes[r.Intn(len(sizes))], sizes[r.Intn(len(sizes))], depths[r.Intn(len(depths))])
	}
	add(1100, 9, 30)
	add(9, 700, 40)
	return list
}

func (s shape) String() string {
	t := map[bool]string{false: "N", true: "T"}
	return fmt.Sprintf("%s%s %dx%dx%d alpha %v beta %v", t[s.transA], t[s.transB], s.m, s.n, s.k, s.alpha, s.beta)
}

// gemmCase is a shape with its matrices: rows longer than needed, the gaps filled with NaN.
type gemmCase[T float] struct {
	shape
	a, b, c       []T
	lda, ldb, ldc int
}

func newCase[T float](s shape, r *rand.Rand) gemmCase[T] {
	c := gemmCase[T]{shape: s}
	matrix := func(rows, columns int, trans bool) ([]T, int) {
		if trans {
			rows, columns = columns, rows
		}
		ld := max(columns+r.Intn(4), 1)
		d := make([]T, max(rows*ld-(ld-columns), 0))
		for i := range d {
			d[i] = T(math.NaN())
			if i%ld < columns {
				d[i] = T(r.NormFloat64())
			}
		}
		return d, ld
	}
	c.a, c.lda = matrix(s.m, s.k, s.transA)
	c.b, c.ldb = matrix(s.k, s.n, s.transB)
	c.c, c.ldc = matrix(s.m, s.n, false)
	if s.beta == 0 {
		for i := range c.c {
			c.c[i] = T(math.NaN())
		}
	}
	return c
}

// naive returns C in float64 and the sum of absolute products that scales its error.
func (c gemmCase[T]) naive(i, j int) (v, scale float64) {
	at := func(s []T, ld, i, j int, trans bool) float64 {
		if trans {
			i, j = j, i
		}
		return float64(s[i*ld+j])
	}
	for p := range c.k {
		x := at(c.a, c.lda, i, p, c.transA) * at(c.b, c.ldb, p, j, c.transB)
		v += x
		scale += math.Abs(x)
	}
	v, scale = c.alpha*v, math.Abs(c.alpha)*scale
	if c.beta != 0 {
		v += c.beta * float64(c.c[i*c.ldc+j])
		scale += math.Abs(c.beta * float64(c.c[i*c.ldc+j]))
	}
	return v, scale
}

func TestGemm64(t *testing.T) { gemmAll(t, GemmPart64, 1e-14) }
func TestGemm32(t *testing.T) { gemmAll(t, GemmPart32, 1e-5) }

type gemmPart[T float] func(l Level, ws *Workspace, transA, transB bool, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int, i0, i1, j0, j1 int)

func (c gemmCase[T]) run(f gemmPart[T], l Level, ws *Workspace, dst []T, i0, i1, j0, j1 int) {
	f(l, ws, c.transA, c.transB, c.m, c.n, c.k, T(c.alpha), c.a, c.lda, c.b, c.ldb, T(c.beta), dst, c.ldc, i0, i1, j0, j1)
}

func gemmAll[T float](t *testing.T, f gemmPart[T], tolerance float64) {
	for _, l := range Levels() {
		r := rand.New(rand.NewSource(4))
		var ws, other Workspace
		for _, s := range shapes() {
			c := newCase[T](s, r)
			got := append([]T(nil), c.c...)
			c.run(f, l, &ws, got, 0, c.m, 0, c.n)
			for i := range got {
				if i%c.ldc >= c.n && !same(got[i], c.c[i]) {
					t.Fatalf("%v %v: wrote between rows at %d", l, s, i)
				}
			}
			for i := range c.m {
				for j := range c.n {
					want, scale := c.naive(i, j)
					if e := math.Abs(float64(got[i*c.ldc+j]) - want); !(e <= tolerance*scale) {
						t.Fatalf("%v %v: C(%d, %d) = %v, want %v", l, s, i, j, got[i*c.ldc+j], want)
					}
				}
			}
			parts := append([]T(nil), c.c...)
			i, j := r.Intn(c.m+1), r.Intn(c.n+1)
			c.run(f, l, &other, parts, i, c.m, 0, j)
			c.run(f, l, &ws, parts, 0, i, 0, c.n)
			c.run(f, l, &other, parts, i, c.m, j, c.n)
			for i := range got {
				if !same(got[i], parts[i]) {
					t.Fatalf("%v %v: parts differ from the whole at %d: %v and %v", l, s, i, parts[i], got[i])
				}
			}
		}
	}
}

// same tells whether the bits agree, or both are NaN.
func same[T float](x, y T) bool {
	return x == y && math.Signbit(float64(x)) == math.Signbit(float64(y)) || x != x && y != y
}

func TestGemmAllocatesOnce(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	var ws Workspace
	for _, l := range Levels() {
		for _, s := range shapes()[:150] {
			c := newCase[float32](s, r)
			run := func() { c.run(GemmPart32, l, &ws, c.c, 0, c.m, 0, c.n) }
			if n := testing.AllocsPerRun(2, run); n != 0 {
				t.Fatalf("%v %v: %v allocations", l, s, n)
			}
		}
	}
}

// Slices that are too short, parts that a product does not have, and sizes whose product overflows are misuse at every level.
func TestGemmRefusesMisuse(t *testing.T) {
	x := make([]float64, 64)
	part := func(l Level, i0, i1, j0, j1 int) {
		GemmPart64(l, new(Workspace), false, false, 4, 4, 4, 1, x[:16], 4, x[:16], 4, 0, make([]float64, 64)[:16], 4, i0, i1, j0, j1)
	}
	for _, l := range Levels() {
		for name, f := range map[string]func(){
			"short B": func() {
				Gemm64(l, new(Workspace), false, false, 2, 2, 2, 1, x[:4], 2, x[:3], 2, 0, make([]float64, 4), 2)
			},
			"long rows of A": func() {
				Gemm64(l, new(Workspace), false, false, 5, 3, 3, 1, x[:3], 1<<62, x[:9], 3, 0, make([]float64, 15), 3)
			},
			"rows":          func() { part(l, 0, 8, 0, 4) },
			"rows before":   func() { part(l, -1, 4, 0, 4) },
			"columns":       func() { part(l, 0, 4, 0, 8) },
			"transposition": func() { Transpose64(l, make([]float64, 64)[:60], 8, x, 8, 8, 8) },
			"its source":    func() { Transpose64(l, make([]float64, 64), 8, x[:60], 8, 8, 8) },
			"panels": func() {
				PanelProduct64(l, 1<<60, nil, nil, make([]float64, PanelRows*PanelRows), PanelRows, false, false)
			},
			"counts": func() {
				CountProduct(l, 1<<60, nil, nil, 1, make([]int32, PanelRows*PanelRows), PanelRows, false, false)
			},
			"largest count": func() { CountProduct(l, 0, nil, nil, 128, make([]int32, PanelRows*PanelRows), PanelRows, false, false) },
		} {
			t.Run(l.String()+" "+name, func(t *testing.T) {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				f()
			})
		}
	}
}

func BenchmarkGemm(b *testing.B) {
	for _, l := range Levels()[1:] {
		for _, s := range []shape{
			{m: 3, n: 3, k: 3}, {m: 8, n: 8, k: 8}, {m: 16, n: 16, k: 16}, {m: 32, n: 32, k: 32}, {m: 64, n: 64, k: 64},
			{m: 128, n: 128, k: 128}, {m: 256, n: 256, k: 256}, {m: 512, n: 512, k: 512}, {m: 1024, n: 1024, k: 1024},
			{m: 128, n: 4000, k: 256}, {m: 128, n: 4000, k: 256, transB: true}, {m: 128, n: 4000, k: 256, transA: true},
			{m: 128, n: 256, k: 4000}, {m: 1, n: 512, k: 512}, {m: 512, n: 1, k: 512}, {m: 1, n: 512, k: 512, transB: true},
			{m: 512, n: 1, k: 512, transA: true}, {m: 8, n: 1000, k: 256},
		} {
			s.alpha = 1
			t := map[bool]string{false: "N", true: "T"}
			name := fmt.Sprintf("%s%s%dx%dx%d/%v", t[s.transA], t[s.transB], s.m, s.n, s.k, l)
			b.Run("float32/"+name, func(b *testing.B) { benchGemm(b, GemmPart32, s, l) })
			b.Run("float64/"+name, func(b *testing.B) { benchGemm(b, GemmPart64, s, l) })
		}
	}
}

func benchGemm[T float](b *testing.B, f gemmPart[T], s shape, l Level) {
	c := newCase[T](s, rand.New(rand.NewSource(1)))
	var ws Workspace
	for b.Loop() {
		c.run(f, l, &ws, c.c, 0, c.m, 0, c.n)
	}
	flops := 2 * float64(s.m) * float64(s.n) * float64(s.k) * float64(b.N)
	b.ReportMetric(flops/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
