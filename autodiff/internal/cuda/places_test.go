// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// Large arrays have places of 64 bits, small ones of 32, and the results are the same: of loops over elements, in packs and in tiles, of all kinds of sums, of joined
// loops, of steps, and of poolings.
func TestPlacesOfLargeArrays(t *testing.T) {
	pretend.Shared(t)
	x, y := ad.Input("x", 2, 1, 20, 18), ad.Input("y", 20, 1)
	m := ad.Reshape(x, 2, 20, 18)
	outs := []*ad.Node{ad.Sin(x), ad.Mul(m, y), ad.Exp(ad.Permute(m, 0, 2, 1)), ad.Sum(ad.Square(m)), ad.SumAxes(m, 2), ad.SumAxes(m, 0, 2), ad.SumAxes(m, 1), ad.Softmax(m, 2),
		ad.MaxPool2D(x, ad.Pooling{Size: [2]int{2, 2}}), ad.SumPool2D(x, ad.Pooling{Size: [2]int{3, 3}}), ad.Cumsum(m, 1), ad.Gather(m, ad.Ints([]int{3, 0, 3}), 1), ad.Concat(1, m, ad.Scale(2, m)),
		ad.Grad(ad.Sum(ad.Square(ad.Slice(m, 1, 3, 9))), x)[0]}
	in := []*ad.Node{x, y}
	values := [][]float64{random(x.Size(), 1), random(y.Size(), 2)}
	for _, places := range []struct {
		shortest int
		kind     string
	}{{1, "index_t"}, {1 << 30, "int"}} {
		undo := cuda.SetShortest(places.shortest)
		same(t, outs, in, values, map[int]float64{64: 1e-13, 32: 1e-5})
		p, err := ad.Compile(outs, ad.Settings{Backend: ad.CUDA{}})
		undo()
		if err != nil {
			t.Fatal(err)
		}
		if other := map[string]string{"int": "index_t", "index_t": "int"}[places.kind]; !strings.Contains(p.Explain(), "typedef "+places.kind+" place_t;") || strings.Contains(p.Explain(), "typedef "+other+" place_t;") {
			t.Errorf("from %d elements on: places are no %s", places.shortest, places.kind)
		}
	}
}
