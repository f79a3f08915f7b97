// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Where elements tie, every element that a reduction or an order takes its result from has a gradient from 0 to 1, and
// those of one result sum to 1: a largest element is shared by all that tie, and orders and running extremes take the
// first. Products have the products of the other elements, whatever is 0.
func TestTies(t *testing.T) {
	values := []float64{2, 0, 2, 0, -1, 2}
	x := ad.Input("x", 6)
	largest, _ := ad.TopK(x, 2, 0, true)
	weights := ad.Const([]float64{1, 2, 4, 8, 16, 32})
	for _, c := range []struct {
		name string
		y    *ad.Node
		want []float64
	}{
		{"Max", ad.Max(x), []float64{1. / 3, 0, 1. / 3, 0, 0, 1. / 3}},
		{"Min of sizes", ad.Min(ad.Abs(x)), []float64{0, 0, 0, 0, 0, 0}},
		{"TopK", ad.Sum(ad.Mul(largest, ad.Const([]float64{1, 10}))), []float64{1, 0, 10, 0, 0, 0}},
		{"Sort", ad.Sum(ad.Mul(ad.Sort(x, 0, false), weights)), []float64{8, 2, 16, 4, 1, 32}},
		{"Cummax", ad.Sum(ad.Mul(ad.Cummax(x, 0), weights)), []float64{63, 0, 0, 0, 0, 0}},
		{"Prod", ad.Prod(ad.Slice(x, 0, 2, 5)), []float64{0, 0, 0, -2, 0, 0}},
		{"Cumprod", ad.Sum(ad.Cumprod(ad.Slice(x, 0, 1, 4), 0)), []float64{0, 3, 0, 0, 0, 0}},
		{"Cumprod behind one zero", ad.Sum(ad.Mul(ad.Cumprod(ad.Slice(x, 0, 2, 6), 0), ad.Const([]float64{1, 2, 4, 8}))), []float64{0, 0, 1, 4 - 8 - 32, 0, 0}},
		{"Maximum", ad.Maximum(ad.Index(x, 0, 0), ad.Index(x, 0, 2)), []float64{0.5, 0, 0.5, 0, 0, 0}},
		{"Clip at its end", ad.Clip(ad.Index(x, 0, 0), 0, 2), []float64{0.5, 0, 0, 0, 0, 0}},
		{"Abs", ad.Abs(ad.Index(x, 0, 1)), make([]float64, 6)},
		{"Norm", ad.Norm(ad.Gather(x, ad.Ints([]int{1, 3}), 0)), make([]float64, 6)},
	} {
		for _, w := range ways() {
			got := results(t, w, ad.Grad(c.y, x), []*ad.Node{x}, [][]float64{values})
			sameNumbers(t, c.name+" "+w.String(), got[0], c.want)
		}
	}
}
