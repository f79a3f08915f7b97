// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// turned are graphs that read arrays along another axis than they write, of arrays (2, rows, columns).
func turned(rows, columns int) (outs, in []*ad.Node) {
	x, y := ad.Input("x", 2, rows, columns), ad.Input("y", columns, rows)
	z, w := ad.Input("z", columns, rows), ad.Input("w", columns, 2, rows)
	turn := ad.Permute(x, 0, 2, 1)
	both := ad.Add(ad.Mul(turn, ad.Sin(ad.Permute(w, 1, 0, 2))), y) // some arrays in tiles, others beside them
	several := ad.Add(ad.Mul(ad.T(y), ad.T(z)), ad.Reshape(ad.Slice(x, 0, 1, 2), rows, columns))
	return []*ad.Node{ad.Exp(turn), ad.Shift(ad.Permute(x, 2, 1, 0), 1), ad.Shift(ad.Permute(x, 2, 0, 1), 1), both, ad.Scale(2, several), ad.Grad(ad.Sum(ad.Mul(both, both)), x)[0]}, []*ad.Node{x, y, z, w}
}

// Arrays are read through tiles whatever part of a tile they fill, with NaN and infinities, in every order of blocks and threads, to the last
// bit as the processor reads them where nothing is computed.
func TestTurnedArrays(t *testing.T) {
	lib := pretend.Shared(t)
	for i, shape := range [][2]int{{1, 33}, {15, 16}, {16, 16}, {17, 31}, {32, 32}, {33, 65}, {64, 20}, {255, 17}, {256, 16}, {257, 33}} {
		outs, in := turned(shape[0], shape[1])
		var values [][]float64
		for k, x := range in {
			v := random(x.Size(), uint64(10*i+k))
			for j, odd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				v[(7*j+3)%len(v)] = odd
			}
			values = append(values, v)
		}
		lib.Set("order", i%3)
		same(t, outs, in, values, map[int]float64{64: 1e-13, 32: 1e-5})
	}
	lib.Set("order", pretend.Ascending)
}

// A block takes several tiles one after another where they are more than blocks.
func TestTurnedArraysBeyondTheGrid(t *testing.T) {
	lib := pretend.Shared(t)
	defer cuda.SetMostGrid(3)()
	defer lib.Set("order", pretend.Ascending)
	outs, in := turned(70, 90)
	var values [][]float64
	for k, x := range in {
		values = append(values, random(x.Size(), uint64(k)))
	}
	for order := pretend.Ascending; order <= pretend.Interleaved; order++ {
		lib.Set("order", order)
		same(t, outs, in, values, map[int]float64{64: 1e-13})
	}
}

// Only axes that are long enough are cut into tiles.
func TestWhereTilesAre(t *testing.T) {
	pretend.Shared(t)
	for _, x := range []struct {
		rows, columns int
		tiled         bool
	}{{16, 16, true}, {15, 100, false}, {100, 15, false}, {100, 100, true}} {
		p, err := ad.Compile([]*ad.Node{ad.Shift(ad.T(ad.Input("x", x.rows, x.columns)), 1)}, ad.Settings{Backend: ad.CUDA{}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(p.Explain(), "eu_tiled_"); got != x.tiled {
			t.Errorf("%s: tiles %v, want %v", fmt.Sprint(x.rows, " x ", x.columns), got, x.tiled)
		}
	}
}
