// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Products with one right factor are one product, unless one depends on another, and have the bits they have alone.
func TestProductsAreJoined(t *testing.T) {
	const n = 96
	fill := func(x *ad.Node, seed float64) (*ad.Node, []float64) {
		v := make([]float64, x.Size())
		for i := range v {
			v[i] = math.Sin(seed + float64(i*i))
		}
		return x, v
	}
	w, wv := fill(ad.Input("w", n, n), 0)
	a, av := fill(ad.Input("a", 5, n), 1)
	b, bv := fill(ad.Input("b", 5, n), 2)
	c, cv := fill(ad.Input("c", 7, n), 3)
	same := ad.T(ad.T(w)) // is w
	outs := []*ad.Node{ad.MatMul(a, w), ad.Exp(ad.MatMul(b, same)), ad.MatMul(ad.MatMul(a, w), w), ad.MatMul(c, w), ad.MatMul(ad.Add(a, b), w)}
	in, values := []*ad.Node{w, a, b, c}, [][]float64{wv, av, bv, cv}
	for _, bits := range []int{64, 32} {
		run := func(outs ...*ad.Node) (string, [][]float64) {
			p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: bits})
			if err != nil {
				t.Fatal(err)
			}
			s := p.NewState()
			for i, v := range values {
				if err := s.SetInput(i, v); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			var got [][]float64
			for i := range outs {
				got = append(got, s.OutputFloat64(i))
			}
			return p.String(), got
		}
		text, got := run(outs...)
		if k := strings.Count(text, "matmul"); k != 3 || !strings.Contains(text, "matmul [15 96]") {
			t.Errorf("%d products, want 3 of which one has 15 rows:\n%s", k, text)
		}
		for i, y := range outs {
			_, alone := run(y)
			for k, v := range alone[0] {
				if got[i][k] != v {
					t.Fatalf("float%d, output %d, element %d: %.17g, alone %.17g", bits, i, k, got[i][k], v)
				}
			}
		}
	}
}

// Many products make several joined ones.
func TestManyProductsAreJoinedInParts(t *testing.T) {
	w := ad.Input("w", 64, 64)
	var outs []*ad.Node
	for i := range 20 {
		outs = append(outs, ad.Sum(ad.Square(ad.MatMul(ad.Scale(float64(i+1), ad.Input("x", 200, 64)), w))))
	}
	p, err := ad.Compile([]*ad.Node{ad.AddN(outs...)}, ad.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if text := p.String(); strings.Count(text, "matmul") != 2 || strings.Count(text, "matmul [2000 64]") != 2 {
		t.Errorf("want two products of 2000 rows:\n%s", text)
	}
}
