// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// What is hoisted, put back, gives the same values and gradients.
func TestHoist(t *testing.T) {
	x, y, s := ad.Input("x", 4), ad.Input("y", 4), ad.Input("s", 4)
	mu, tau := ad.Input("mu"), ad.Input("tau")
	z := ad.Div(ad.Sub(y, ad.Mul(mu, ad.Exp(ad.Div(ad.Scale(-2, x), tau)))), s)
	lp := ad.Sum(ad.Sub(ad.Scale(-0.5, ad.Square(z)), ad.Log(s)))
	pairs := ad.Sum(ad.Mul(ad.Div(mu, ad.Reshape(ad.Square(x), 2, 2)), ad.Sum(ad.Square(y))))
	want := append([]*ad.Node{lp, pairs, ad.Sum(ad.Log(s))}, ad.Grad(lp, mu, tau)...)
	rest, made, places := ad.Hoist(want, x, y, s)
	if len(made) == 0 || len(made) != len(places) {
		t.Fatalf("%d made, %d places", len(made), len(places))
	}
	all := append(append([]*ad.Node{}, want...), ad.Substitute(rest, places, made)...)
	prog, err := ad.Compile(all, ad.Settings{Inputs: []*ad.Node{x, y, s, mu, tau}})
	if err != nil {
		t.Fatal(err)
	}
	run := prog.NewState()
	for i, v := range [][]float64{{1, 2, 3, 4}, {2, 1, 0.5, 0.3}, {0.1, 0.2, 0.3, 0.4}, {1.7}, {3.1}} {
		copy(run.Input(i), v)
	}
	if err := run.Run(); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		a, b := run.Output(i)[0], run.Output(i + len(want))[0]
		if math.Abs(a-b) > 1e-13*math.Abs(a) {
			t.Errorf("output %d is %.17g, want %.17g", i, b, a)
		}
	}
	for _, p := range places {
		if p.Size() > 4 {
			t.Errorf("%v was taken out whole", p)
		}
	}
	free, err := ad.Compile(rest, ad.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range free.Inputs() {
		if in == s {
			t.Error("s is still read")
		}
	}
}
