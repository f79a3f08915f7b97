// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
)

// Counts are written and their bits joined, whatever their number, and nothing is written beyond them.
func TestCounts(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, l := range Levels() {
		t.Run(fmt.Sprint(l), func(t *testing.T) {
			for n := range 150 {
				x, want := make([]float32, n), make([]uint8, n+1)
				bits := 0
				for i := range x {
					v := r.Intn(MostCount+1) & r.Intn(MostCount+1)
					x[i], want[i] = float32(v), uint8(v)
					bits |= v
				}
				want[n] = 99
				got := make([]uint8, n+1)
				got[n] = 99
				if s, ok := Counts(l, got, x); s != bits || !ok || !slices.Equal(got, want) {
					t.Fatalf("%v has the bits %d, %v: %v", x, s, ok, got)
				}
			}
		})
	}
}

// Numbers that are no counts are found wherever they are.
func TestNoCounts(t *testing.T) {
	for _, l := range Levels() {
		for _, bad := range []float32{128, -1, 0.5, 126.5, 1e30, -1e30, 4294967297, 256, float32(math.NaN()), float32(math.Inf(1)), math.SmallestNonzeroFloat32} {
			for n := 1; n < 70; n++ {
				for _, at := range []int{0, n / 2, n - 1} {
					x := make([]float32, n)
					x[at] = bad
					if _, ok := Counts(l, make([]uint8, n), x); ok {
						t.Fatalf("%v: %v at place %d of %d passes for a count", l, bad, at, n)
					}
				}
			}
		}
		if bits, ok := Counts(l, make([]uint8, 2), []float32{float32(math.Copysign(0, -1)), 127}); bits != 127 || !ok {
			t.Errorf("%v: the bits of -0 and 127 are %d, %v", l, bits, ok)
		}
	}
}

// Products of counts are those of whole numbers, whichever words are added one after the other and however large the counts are.
func TestCountProduct(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	const ldc = PanelRows + 3
	for _, l := range Levels() {
		for _, most := range []int{0, 1, 4, 45, 46, MostCount} {
			for _, k := range []int{0, 1, 2, 7, 9, 64, 501} {
				a, b := make([]uint32, k*PanelRows), make([]uint32, k*PanelRows)
				for i := range a {
					for s := 0; s < 32; s += 8 {
						a[i] |= uint32(max(most-r.Intn(3)*r.Intn(50), 0)) << s
						b[i] |= uint32(max(most-r.Intn(3)*r.Intn(50), 0)) << s
					}
				}
				testCountProduct(t, l, k, a, b, most, ldc)
			}
		}
	}
}

func testCountProduct(t *testing.T, l Level, k int, a, b []uint32, most, ldc int) {
	got, upper, parts := make([]int32, PanelRows*ldc), make([]int32, PanelRows*ldc), make([]int32, PanelRows*ldc)
	for i := range got {
		got[i], upper[i], parts[i] = 5, 5, 5
	}
	CountProduct(l, k, a, b, most, got, ldc, false, false)
	CountProduct(l, k, a, b, most, upper, ldc, false, true)
	half := k / 2
	CountProduct(l, half, a, b, most, parts, ldc, false, false)
	CountProduct(l, k-half, a[half*PanelRows:], b[half*PanelRows:], most, parts, ldc, true, false)
	for i := range PanelRows {
		for j := range ldc {
			want := int32(5)
			if j < PanelRows {
				want = 0
				for p := range k {
					for s := 0; s < 32; s += 8 {
						want += int32(a[p*PanelRows+i]>>s&0xff) * int32(b[p*PanelRows+j]>>s&0xff)
					}
				}
			}
			if at := i*ldc + j; got[at] != want || parts[at] != want || (j >= i && upper[at] != want) {
				t.Fatalf("%v, %d words of counts up to %d: (%d, %d) is %d at once, %d in parts and %d of the upper triangle, want %d", l, k, most, i, j, got[at], parts[at], upper[at], want)
			}
		}
	}
}

// Whole numbers are scaled with the bits of plain loops.
func TestScaleCounts(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	for _, l := range Levels() {
		for n := range 60 {
			for _, add := range []bool{false, true} {
				x, y, dst := make([]int32, n), make([]float64, n), make([]float64, n+1)
				want := make([]float64, n+1)
				dst[n], want[n] = 7, 7
				for i := range x {
					x[i], y[i], dst[i] = r.Int31()-r.Int31(), r.NormFloat64(), r.NormFloat64()
					if want[i] = float64(x[i]) * y[i] * 0.3; add {
						want[i] = math.FMA(float64(x[i])*y[i], 0.3, dst[i])
					}
				}
				if ScaleCounts(l, dst, x, y, 0.3, add); !slices.Equal(dst, want) {
					t.Fatalf("%v, %d numbers, add %v: %v, want %v", l, n, add, dst, want)
				}
			}
		}
	}
}

func BenchmarkCountProduct(b *testing.B) {
	const k = 64
	x, c := make([]uint32, k*PanelRows), make([]int32, PanelRows*PanelRows)
	for i := range x {
		x[i] = uint32(i%7) * 0x01010101
	}
	for _, most := range []int{7, MostCount} {
		b.Run(fmt.Sprintf("up_to_%d", most), func(b *testing.B) {
			for b.Loop() {
				CountProduct(Best(), k, x, x, most, c, PanelRows, true, false)
			}
			b.ReportMetric(8*k*PanelRows*PanelRows*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gop/s")
		})
	}
}

func BenchmarkCounts(b *testing.B) {
	x, to := make([]float32, 4096), make([]uint8, 4096)
	for i := range x {
		x[i] = float32(i % 7)
	}
	for b.Loop() {
		Counts(Best(), to, x)
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/4096*1e9, "ns/number")
}
