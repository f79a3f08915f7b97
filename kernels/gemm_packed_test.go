// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
)

// Products of panels have the bits of Gemm at the levels with assembly, whichever depths are added one after the other, and are
// near it at the level without.
func TestPanelProduct(t *testing.T) {
	for _, l := range Levels() {
		t.Run(fmt.Sprint(l), func(t *testing.T) {
			testPanels(t, l, Transpose64, PanelProduct64, Gemm64, 1e-12)
			testPanels(t, l, Transpose32, PanelProduct32, Gemm32, 1e-3)
		})
	}
}

func testPanels[T float](t *testing.T, l Level, pack func(Level, []T, int, []T, int, int, int), product func(Level, int, []T, []T, []T, int, bool, bool),
	gemm func(Level, *Workspace, bool, bool, int, int, int, T, []T, int, []T, int, T, []T, int), tol float64) {
	r := rand.New(rand.NewSource(7))
	const ldc = PanelRows + 5
	for _, rows := range []int{2, 5, 8, 40, 47, PanelRows} {
		for _, k := range []int{1, 3, 8, 100, 256, 700} {
			ld := k + r.Intn(3)
			x, y := make([]T, rows*ld), make([]T, rows*ld)
			for i := range x {
				x[i], y[i] = T(r.NormFloat64()), T(r.NormFloat64())
			}
			a, b := make([]T, k*PanelRows), make([]T, k*PanelRows)
			pack(l, a, PanelRows, x, ld, rows, k)
			pack(l, b, PanelRows, y, ld, rows, k)
			want, whole, steps, upper := make([]T, rows*rows), make([]T, PanelRows*ldc), make([]T, PanelRows*ldc), make([]T, PanelRows*ldc)
			var ws Workspace
			gemm(l, &ws, false, true, rows, rows, k, 1, x, ld, y, ld, 0, want, rows)
			for i := range whole {
				whole[i], steps[i], upper[i] = 3, 3, 3
			}
			product(l, k, a, b, whole, ldc, false, false)
			product(l, k, a, b, upper, ldc, false, true)
			for from := 0; from < k; from += 256 {
				product(l, min(256, k-from), a[from*PanelRows:], b[from*PanelRows:], steps, ldc, from > 0, false)
			}
			for i := range PanelRows {
				for j := range ldc {
					got, v := whole[i*ldc+j], T(0)
					switch {
					case j >= PanelRows:
						v = 3
					case i < rows && j < rows:
						v = want[i*rows+j]
					}
					if got != v && (l != PureGo || math.Abs(float64(got-v)) > tol) {
						t.Fatalf("%d rows of %d: (%d, %d) is %v, want %v", rows, k, i, j, got, v)
					}
					if steps[i*ldc+j] != got || j >= i && upper[i*ldc+j] != got {
						t.Fatalf("%d rows of %d: (%d, %d) is %v at once, %v in steps and %v of the upper triangle", rows, k, i, j, got, steps[i*ldc+j], upper[i*ldc+j])
					}
				}
			}
		}
	}
}

// Sizes that do not fit are misuse.
func TestPanelsThatDoNotFit(t *testing.T) {
	c := make([]float64, PanelRows*PanelRows)
	for name, f := range map[string]func(){
		"depth": func() { PanelProduct64(PureGo, -1, c, c, c, PanelRows, false, false) },
		"left":  func() { PanelProduct64(PureGo, 2, c[:9], c, c, PanelRows, false, false) },
		"right": func() { PanelProduct64(PureGo, 2, c, c[:9], c, PanelRows, false, false) },
		"c":     func() { PanelProduct64(PureGo, 1, c, c, c[:9], PanelRows, false, false) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func BenchmarkPanelProduct(b *testing.B) {
	const k = 256
	x, c := make([]float32, k*PanelRows), make([]float32, PanelRows*PanelRows)
	for i := range x {
		x[i] = float32(i%7) / 8
	}
	for b.Loop() {
		PanelProduct32(Best(), k, x, x, c, PanelRows, true, false)
	}
	b.ReportMetric(2*k*PanelRows*PanelRows*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gflop/s")
}
