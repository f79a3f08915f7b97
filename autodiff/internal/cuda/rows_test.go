// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"fmt"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// Rows of all lengths are summed by as many threads as they need, and chains of sums by as many as can keep a row, in every order of threads and blocks, also
// where rows are more than a grid takes at once.
func TestRowsOfAllLengths(t *testing.T) {
	lib := pretend.Shared(t)
	defer lib.Set("order", pretend.Ascending)
	defer cuda.SetMostGrid(3)()
	var outs, in []*ad.Node
	var values [][]float64
	for i, c := range []int{1, 2, 3, 7, 8, 16, 31, 32, 33, 255, 256, 257, 513, 1024, 2049} {
		x := ad.Input(fmt.Sprint("x", c), max(5, 300/c), c)
		v := random(x.Size(), uint64(i))
		v[0], v[len(v)/2] = math.NaN(), math.Inf(1)
		in, values = append(in, x), append(values, v)
		outs = append(outs, ad.SumAxes(x, 1), ad.MaxAxes(ad.Sin(x), 1), ad.Softmax(ad.Sin(x), 1))
	}
	for order := pretend.Ascending; order <= pretend.Interleaved; order++ {
		lib.Set("order", order)
		same(t, outs, in, values, map[int]float64{64: 1e-12, 32: 1e-5})
	}
}
