// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// Running sums of long lines have the same bits whatever block begins first and whichever goes on, and agree with the processor's: forwards, backwards,
// without the element itself, and of several lines.
func TestRunningSumsInEveryOrder(t *testing.T) {
	lib := pretend.Shared(t)
	defer lib.Set("order", pretend.Ascending)
	x, m, k := ad.Input("x", 20_001), ad.Input("m", 3, 8193), ad.Input("k", 8192, 2)
	in := []*ad.Node{x, m, k}
	outs := []*ad.Node{ad.Cumsum(x, 0), ad.CumsumWith(x, 0, true, true), ad.Cumsum(m, 1), ad.CumsumWith(m, 1, false, true), ad.Cumsum(k, 0)}
	var values [][]float64
	for i, x := range in {
		values = append(values, random(x.Size(), uint64(i)))
	}
	values[1][8000], values[1][8193+5000] = math.Inf(1), math.NaN()
	var first [][]float64
	for round := range 10 {
		lib.Set("order", min(round, pretend.Interleaved))
		lib.Set("seed", round)
		got := outputs(t, outs, in, values, ad.Settings{Precision: 32, Backend: ad.CUDA{Strict: true}})
		if round == 0 {
			first = got
			same(t, outs, in, values, map[int]float64{64: 1e-12, 32: 1e-5})
		}
		for i := range got {
			if !slices.EqualFunc(got[i], first[i], func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
				t.Errorf("round %d: output %d has other bits", round, i)
			}
		}
	}
}

// More than 256 tiles are added up in groups, and blocks take several tiles each.
func TestRunningSumsOfGroups(t *testing.T) {
	lib := pretend.Shared(t)
	defer lib.Set("order", pretend.Ascending)
	const n = 2048*513 + 3 // two whole groups of 256 tiles of 2048 elements, and a part of a third
	x := ad.Input("x", n)
	for _, order := range []int{pretend.Ascending, pretend.Interleaved} {
		lib.Set("order", order)
		same(t, []*ad.Node{ad.Cumsum(x, 0)}, []*ad.Node{x}, [][]float64{random(n, 1)}, map[int]float64{64: 1e-12})
	}
}
