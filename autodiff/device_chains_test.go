// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Chains of sums over rows and of what is made of them become one kernel where they follow each other:
// whatever stands between them, is an output too, is read later, or runs on the processor, the numbers
// are the processor's.
func TestRowChainsOnDevice(t *testing.T) { rowChainsOnDevice(t, 6) }

func rowChainsOnDevice(t *testing.T, programs int) {
	emulated(t)
	for k := range programs {
		rng := rand.New(rand.NewPCG(uint64(k), 77))
		shapes := [][2]int{{1, 5}, {5, 1}, {3, 7}, {40, 33}, {2, 300}, {300, 2}}
		sh := shapes[rng.IntN(len(shapes))]
		rows, columns := sh[0], sh[1]
		x, y, v := ad.Input("x", rows, columns), ad.Input("y", rows, columns), ad.Input("v", rows, 1)
		in := []*ad.Node{x, y, v}
		whole, column := []*ad.Node{x, y}, []*ad.Node{v}
		pick := func(list []*ad.Node) *ad.Node { return list[max(0, len(list)-1-rng.IntN(4))] }
		var outs []*ad.Node
		for range 12 + rng.IntN(20) {
			a, b := pick(whole), pick(column)
			keep := func(n *ad.Node) *ad.Node { return ad.Reshape(n, rows, 1) }
			switch rng.IntN(11) {
			case 0:
				column = append(column, keep(ad.MaxAxes(a, 1)))
			case 1:
				column = append(column, keep(ad.MeanAxes(ad.Square(a), 1)))
			case 2:
				column = append(column, keep(ad.SumAxes(ad.Mul(a, pick(whole)), 1)))
			case 3:
				whole = append(whole, ad.Tanh(ad.Sub(a, b)))
			case 4:
				whole = append(whole, ad.Softmax(a, 1))
			case 5:
				whole = append(whole, ad.Div(a, ad.Shift(ad.Abs(b), 1)))
			case 6:
				column = append(column, ad.Sigmoid(ad.Add(b, pick(column))))
			case 7:
				whole = append(whole, ad.Cumsum(ad.Scale(0.1, a), 1))
			case 8:
				whole = append(whole, ad.Sin(ad.Add(a, ad.Reshape(ad.SumAxes(ad.Scale(0.1, pick(whole)), 0), 1, columns))))
			case 9:
				outs = append(outs, a)
			case 10:
				outs = append(outs, b, ad.Sum(ad.Mul(a, b)))
			}
		}
		outs = append(outs, pick(whole), pick(column))
		loss := ad.Scalar(0)
		for _, o := range outs {
			loss = ad.Add(loss, ad.Sum(ad.Sin(o)))
		}
		outs = append(append(outs, loss), ad.Grad(loss, in...)...)
		var values [][]float64
		for _, n := range in {
			w := make([]float64, n.Size())
			for i := range w {
				w[i] = rng.NormFloat64()
			}
			values = append(values, w)
		}
		agree(t, outs, in, values, 64, 1e-9, func(i int) string { return fmt.Sprintf("program %d of %d x %d, output %d", k, rows, columns, i) })
		if t.Failed() {
			return
		}
	}
}
