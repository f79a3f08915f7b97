// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// layerNorm normalises rows to mean 0 and variance 1.
func layerNorm(x *ad.Node) *ad.Node {
	rows := x.Shape()[0]
	d := ad.Sub(x, ad.Reshape(ad.MeanAxes(x, 1), rows, 1))
	return ad.Mul(d, ad.Rsqrt(ad.Shift(ad.Reshape(ad.MeanAxes(ad.Square(d), 1), rows, 1), 1e-5)))
}

// rowChains are graphs that go over rows several times.
var rowChains = map[string]func(x *ad.Node) *ad.Node{
	"softmax":     func(x *ad.Node) *ad.Node { return ad.Softmax(x, 1) },
	"log softmax": func(x *ad.Node) *ad.Node { return ad.LogSoftmax(x, 1) },
	"logsumexp":   func(x *ad.Node) *ad.Node { return ad.LogSumExp(x, 1) },
	"layer norm":  layerNorm,
}

// Chains over rows are one kernel, and so are their gradients.
func TestRowChainsAreOneKernel(t *testing.T) {
	pretend.Shared(t)
	for name, f := range rowChains {
		x := ad.Input("x", 64, 100)
		y := f(x)
		g := ad.Input("g", y.Shape()...)
		for _, out := range []*ad.Node{y, ad.VJP(y, g, x)[0]} {
			p, err := ad.Compile([]*ad.Node{out}, ad.Settings{Backend: ad.CUDA{}})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(p.String(), ": 1 kernels") {
				t.Errorf("%s: %v", name, p)
			}
		}
	}
}

// Rows of all lengths: of parts of a warp, a warp, a block, and rows that registers do not hold. Each length is
// a program, since only loops that follow each other are joined.
func TestRowChainParity(t *testing.T) {
	pretend.Shared(t)
	for i, shape := range [][]int{{5, 2}, {9, 10}, {40, 64}, {2, 257}, {3, 1000}, {2, 7000}} {
		x, g := ad.Input("x", shape...), ad.Input("g", shape...)
		var outs []*ad.Node
		for _, f := range rowChains {
			y := f(x)
			outs = append(outs, y)
			if len(y.Shape()) == 2 {
				outs = append(outs, ad.Grad(ad.Sum(ad.Mul(g, ad.Square(y))), x)[0])
			}
		}
		p, err := ad.Compile(outs, ad.Settings{Backend: ad.CUDA{}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(p.Explain(), "eu_joined_") {
			t.Errorf("rows of %v: no loops are joined in %v", shape, p)
		}
		xv, gv := random(x.Size(), uint64(i)), random(x.Size(), uint64(i+100))
		for k := range xv { // saturated rows have gradients that cancel, which float32 has no digits for
			xv[k], gv[k] = 0.3*xv[k], 0.3*gv[k]
		}
		in := []*ad.Node{x, g}
		same(t, outs, in, [][]float64{xv, gv}, map[int]float64{64: 1e-12, 32: 1e-4})
		xv[0] = 900
		same(t, outs, in, [][]float64{xv, gv}, map[int]float64{64: 1e-12})
	}
}

// A row that needs what another row has computed has to wait for a kernel of its own.
func TestRowsThatNeedOthers(t *testing.T) {
	pretend.Shared(t)
	x := ad.Input("x", 40, 64)
	y := ad.Sub(x, ad.Reshape(ad.Flip(ad.Log(ad.SumAxes(ad.Exp(x), 1)), 0), 40, 1))
	same(t, []*ad.Node{y}, []*ad.Node{x}, [][]float64{random(40*64, 1)}, map[int]float64{64: 1e-13})
}
