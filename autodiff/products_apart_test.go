// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Products of parts of arrays are those of copies: in any order of the axes, with a slice of any axis, reversed ones among them,
// and with matrices that are repeated.
func TestProductsOfPartsOfArrays(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	x := ad.Input("x", 3, 4, 5, 6)
	v := make([]float64, x.Size())
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	for range 60 {
		part := ad.Permute(x, rng.Perm(4)...)
		switch axis := rng.IntN(4); rng.IntN(4) {
		case 0:
			part = ad.Slice(part, axis, 1, part.Shape()[axis])
		case 1:
			part = ad.Flip(part, axis)
		case 2:
			part = ad.Slice(part, axis, 1, 2)
		}
		s := part.Shape()
		w := ad.Cos(part)
		if rng.IntN(2) == 0 {
			w = ad.Broadcast(ad.Index(ad.Index(part, 0, 0), 0, 0), s...)
		}
		copied := func(n *ad.Node) *ad.Node { return ad.Add(n, ad.Mul(ad.Scalar(0), ad.Exp(ad.Neg(ad.Square(n))))) } // in memory of its own
		outs := []*ad.Node{ad.MatMul(part, ad.T(w)), ad.MatMul(ad.T(part), w), ad.MatMul(copied(part), ad.T(copied(w))), ad.MatMul(ad.T(copied(part)), copied(w))}
		for _, way := range []way{{64, ""}, {32, ""}, {64, "go"}} {
			got := results(t, way, outs, []*ad.Node{x}, [][]float64{v})
			for k := range 2 {
				nearArrays(t, fmt.Sprintf("part %v, product %d", s, k), got[k], got[k+2], map[int]float64{64: 1e-14, 32: 1e-5}[way.bits])
			}
		}
	}
}

// Heads of attention, which lie beside each other in rows, are not copied.
func TestHeadsAreNotCopied(t *testing.T) {
	head := func(name string) *ad.Node {
		return ad.Permute(ad.Reshape(ad.Input(name, 2, 8, 12), 2, 8, 3, 4), 0, 2, 1, 3)
	}
	p, err := ad.Compile([]*ad.Node{ad.MatMul(ad.MatMul(head("q"), ad.T(head("k"))), head("v"))}, ad.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if text := p.String(); strings.Contains(text, "copy") {
		t.Errorf("want two products alone:\n%s", text)
	}
}
