// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/internal/tier"
)

// patterns are lines of numbers that sorts may get wrong.
var patterns = map[string]func(rng *rand.Rand, i, n int) float64{
	"random":     func(rng *rand.Rand, i, n int) float64 { return rng.NormFloat64() },
	"equal":      func(rng *rand.Rand, i, n int) float64 { return 7 },
	"ascending":  func(rng *rand.Rand, i, n int) float64 { return float64(i) - float64(n)/2 },
	"descending": func(rng *rand.Rand, i, n int) float64 { return float64(n)/2 - float64(i) },
	"few":        func(rng *rand.Rand, i, n int) float64 { return float64(rng.IntN(3) - 1) },
	"special": func(rng *rand.Rand, i, n int) float64 {
		list := []float64{math.NaN(), math.Copysign(math.NaN(), -1), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e-40, -1e-40, 2e-40, 1e-45, -1e-45,
			math.MaxFloat32, -math.MaxFloat32, 1, -1, math.Nextafter(1, 2), 5e-324, -5e-324, 1e300, -1e300, math.MaxFloat64}
		return list[rng.IntN(len(list))]
	},
}

// all are the names of patterns.
func all() []string { return slices.Sorted(maps.Keys(patterns)) }

// sortedPlainly returns the first keep places of each line, by a plain stable sort.
func sortedPlainly(v []float64, outer, n, inner, keep int, descending bool) []float64 {
	out := make([]float64, outer*keep*inner)
	for o := range outer {
		for l := range inner {
			at := func(k int) float64 { return v[(o*n+k)*inner+l] }
			idx := make([]int, n)
			for k := range idx {
				idx[k] = k
			}
			slices.SortStableFunc(idx, func(i, j int) int {
				a, b := at(i), at(j)
				if descending {
					a, b = b, a
				}
				if a != a || b != b {
					return cmp.Compare(map[bool]int{true: 1}[a != a], map[bool]int{true: 1}[b != b])
				}
				return cmp.Compare(a, b)
			})
			for k := range keep {
				out[(o*keep+k)*inner+l] = float64(idx[k])
			}
		}
	}
	return out
}

// sortsPlainly compares orders of lines with those of a plain sort: outer lines of n that are inner apart, of
// patterns.
func sortsPlainly(t *testing.T, precisions []int, outer, n, inner int, names ...string) {
	t.Helper()
	for _, bits := range precisions {
		var in, outs []*ad.Node
		var values, want [][]float64
		var labels []string
		for _, name := range names {
			x := ad.Input("x", outer, n, inner)
			v := make([]float64, x.Size())
			rng := rand.New(rand.NewPCG(uint64(n), 5))
			for i := range v {
				v[i] = patterns[name](rng, i/inner%n, n)
				if bits == 32 {
					v[i] = float64(float32(v[i]))
				}
			}
			in, values = append(in, x), append(values, v)
			for _, descending := range []bool{false, true} {
				keep := n / 3
				_, top := ad.TopK(x, keep, 1, descending)
				outs = append(outs, ad.Argsort(x, 1, descending), top)
				want = append(want, sortedPlainly(v, outer, n, inner, n, descending), sortedPlainly(v, outer, n, inner, keep, descending))
				label := fmt.Sprintf("%d bits, %d lines of %d, %d apart, %s, descending %v", bits, outer*inner, n, inner, name, descending)
				labels = append(labels, label, label+", the first")
			}
		}
		for i, got := range outputs(t, outs, in, values, ad.Settings{Precision: bits, Backend: ad.CUDA{Strict: true}}) {
			if k := different(got, want[i]); k >= 0 {
				t.Errorf("%s: element %d is %g, want %g", labels[i], k, got[k], want[i][k])
			}
		}
	}
}

// different returns the first place in which lists differ, or -1.
func different(a, b []float64) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// Lines that a network sorts, that a block sorts by digits, and that blocks share, in one tile each or in more.
func TestSortsPlainly(t *testing.T) {
	tier.SlowOnly(t)
	pretend.Shared(t)
	sortsPlainly(t, []int{32, 64}, 1, 70, 3, all()...)
	sortsPlainly(t, []int{32}, 1, 2049, 2, "special", "equal")
	defer cuda.SetSort(2048, 2)()
	sortsPlainly(t, []int{32}, 1, 5000, 1, "special", "descending") // 2 parts, one of 2 tiles
}
