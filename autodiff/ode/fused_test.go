// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ode

import (
	"math/rand/v2"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// randomRates returns rates of n states with k parameters, formulas of + - * / exp log pow, and choices, that stay bounded.
func randomRates(seed uint64) func(t *ad.Node, y, p []*ad.Node) []*ad.Node {
	return func(t *ad.Node, y, p []*ad.Node) []*ad.Node {
		r := rand.New(rand.NewPCG(seed, 1))
		leaf := func() *ad.Node {
			all := append(append([]*ad.Node{t, ad.Scalar(0.5 + r.Float64())}, y...), p...)
			return all[r.IntN(len(all))]
		}
		var tree func(depth int) *ad.Node
		tree = func(depth int) *ad.Node {
			if depth == 0 {
				return leaf()
			}
			a := tree(depth - 1)
			positive := ad.Add(ad.Scalar(1), ad.Square(a))
			switch r.IntN(8) {
			case 0:
				return ad.Add(a, tree(depth-1))
			case 1:
				return ad.Sub(a, tree(depth-1))
			case 2:
				return ad.Mul(a, leaf())
			case 3:
				return ad.Div(tree(depth-1), positive)
			case 4:
				return ad.Exp(ad.Neg(positive))
			case 5:
				return ad.Log(positive)
			case 6:
				b := tree(depth - 1)
				return ad.Cond(ad.Greater(a, ad.Scalar(0)), func() []*ad.Node { return []*ad.Node{ad.Sqrt(a)} }, func() []*ad.Node { return []*ad.Node{ad.Mul(b, ad.Scalar(0.2))} })[0]
			}
			return ad.Pow(positive, ad.Scalar(0.3))
		}
		rates := make([]*ad.Node, len(y))
		for i := range rates {
			rates[i] = ad.Sub(ad.Log(ad.Add(ad.Scalar(1), ad.Square(tree(3)))), ad.Mul(ad.Scalar(0.5), y[i]))
		}
		return rates
	}
}

// A step as one piece of code has the bits of steps whose stages are run one by one, in solutions and gradients.
func TestFusedHasTheSameBits(t *testing.T) {
	for seed := range uint64(20) {
		n, k := 1+int(seed)%6, int(seed)%5
		r := rand.New(rand.NewPCG(seed, 2))
		y0, p, times := make([]float64, n), make([]float64, k), []float64{0, 0.3, 1, 1, 4}
		for i := range y0 {
			y0[i] = r.NormFloat64()
		}
		for i := range p {
			p[i] = r.NormFloat64()
		}
		state := make([]*ad.Node, n)
		for i := range state {
			state[i] = ad.Input("y")
		}
		var got [2][]float64
		for way := range got {
			list, err := problems(randomRates(seed), state, ad.Const(y0, n), knownTimes(times[0], times[1:]), ad.Const(p, k), Settings{Method: []Method{RK45, DOP853}[seed%2]})
			if err != nil {
				t.Fatal(err)
			}
			pr := list[0]
			if way == 1 {
				pr.whole = func() *fused { return nil }
			} else if pr.whole() == nil {
				t.Skip("there is no machine code on this machine")
			}
			out, g := make([]float64, n*4), make([]float64, n*4)
			for i := range g {
				g[i] = 1 + 0.3*float64(i%5)
			}
			in := [][]float64{y0, p, times}
			if err := pr.forward(out, in...); err != nil {
				t.Fatal(err)
			}
			dIn := [][]float64{make([]float64, n), make([]float64, k), make([]float64, len(times))}
			if err := pr.adjoint(dIn, g, out, in...); err != nil {
				t.Fatal(err)
			}
			got[way] = slices.Concat(out, dIn[0], dIn[1])
		}
		for i, x := range got[0] {
			if x != got[1][i] {
				t.Fatalf("system %d of %d states: number %d is %v, and %v stage by stage", seed, n, i, x, got[1][i])
			}
		}
	}
}
