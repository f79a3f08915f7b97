// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// A residual that waits for a scale is computed where it is scaled, in one loop,
// but stays a loop of its own where something else reads it before that: a sum, a
// product of matrices, a loop of another shape.
func TestClustersWaitForTheirReaders(t *testing.T) {
	x, y, w, s := ad.Input("x", 40), ad.Input("y", 40), ad.Input("w", 3, 40), ad.Input("s")
	residual := ad.Tanh(ad.Sub(x, y))
	scaled := ad.Sum(ad.Exp(ad.Mul(residual, ad.Exp(s))))
	reads := map[string]struct {
		outs  []*ad.Node
		loops int // over 40 elements
	}{
		"alone":         {[]*ad.Node{scaled}, 1},
		"a sum":         {[]*ad.Node{scaled, ad.Sum(residual)}, 1}, // nobody waits for the sum
		"a sum in time": {[]*ad.Node{ad.Sum(ad.Mul(residual, ad.Sum(ad.Square(residual))))}, 2},
		"a product":     {[]*ad.Node{ad.Sum(ad.Mul(residual, ad.Sum(ad.MatMul(w, residual))))}, 2},
		"a wider loop":  {[]*ad.Node{scaled, ad.Sum(ad.Add(w, residual))}, 2},
		"turned round":  {[]*ad.Node{scaled, ad.Sum(ad.Mul(residual, ad.Flip(residual, 0)))}, 2},
	}
	for name, c := range reads {
		p, err := ad.Compile(c.outs, ad.Settings{Inputs: []*ad.Node{x, y, w, s}})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(p.String(), "loop [40]"); n != c.loops {
			t.Errorf("%s: %d loops over 40 elements, want %d:\n%v", name, n, c.loops, p)
		}
	}
}

// The program is the same as one that keeps every value: a cluster that moves
// finds what it reads, and what reads it.
func TestClustersThatMoveKeepTheirValues(t *testing.T) {
	x, s := ad.Input("x", 4, 30), ad.Input("s", 30)
	var outs, all []*ad.Node
	a := x
	for i := range 6 { // each step waits for sums of others and is read at several times
		b := ad.Tanh(ad.Add(a, ad.Scale(0.1, s)))
		c := ad.SumAxes(ad.Square(b), 0)
		d := ad.Mul(b, ad.Exp(ad.Scale(-0.1, c)))
		e := ad.Add(ad.Permute(ad.Reshape(d, 30, 4)), ad.Sum(c))
		all = append(all, b, c, d, e)
		if a = ad.Add(e, b); i%2 == 0 {
			outs = append(outs, ad.Sum(d))
		}
	}
	outs = append(outs, ad.Grad(ad.Sum(a), x, s)...)
	in, values := []*ad.Node{x, s}, [][]float64{ramp(120, 0.03), ramp(30, 0.1)}
	moved := results(t, way{64, ""}, outs, in, values)
	kept := results(t, way{64, ""}, append(outs, all...), in, values)
	for i := range outs {
		for k, v := range moved[i] {
			if !near(v, kept[i][k], 1e-12) {
				t.Fatalf("output %d, element %d: %g, want %g", i, k, v, kept[i][k])
			}
		}
	}
}
