// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package hill adds an operation to graphs, to formulas and to programs of the Stan language: the Hill function of pharmacology and of gene regulation.
//
//	y := hill.Hill(x, k, n) // the response to the concentration x; it is one half at x = k
//
// Its command, in cmd, is euryale with this function in formulas and programs:
//
//	hill fit nlsq --problem dose.json    # with "expr": "top*hill(dose, k, n)"
//	hill sample stan dose.stan --data dose.json
package hill

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/models/stan"
)

// Hill returns x^n / (x^n + k^n) of positive arrays, which broadcast.
//
// Gradient: with respect to x, k and n.
func Hill(x, k, n *ad.Node) *ad.Node { return Op.Apply(x, k, n) }

// Op is the operation. Its C text runs it on GPUs, and its gradient is written with operations, so that it has
// gradients of any order.
var Op *ad.Op

func init() { // a package variable whose gradient uses it would be an initialization cycle
	Op = ad.Ternary{
		Name: "hill",
		CPU:  func(x, k, n float64) float64 { return 1 / (1 + math.Pow(k/x, n)) },
		CUDA: "1.0 / (1.0 + pow(y / x, z))",
		VJP: func(g, x, k, n *ad.Node) (dx, dk, dn *ad.Node) {
			y := Hill(x, k, n)
			slope := ad.Mul(g, ad.Mul(y, ad.Sub(ad.Scalar(1), y)))
			steep := ad.Mul(slope, n)
			return ad.Div(steep, x), ad.Neg(ad.Div(steep, k)), ad.Mul(slope, ad.Log(ad.Div(x, k)))
		},
		Domain: ad.Interval{Lo: 0.5, Hi: 3},
		// A kernel computes a whole slice at a time. Leave it out unless it is faster than calls of CPU.
		Kernel: func(w, x, k, n []float64) {
			for i, v := range x {
				w[i] = 1 / (1 + math.Exp(n[i]*math.Log(k[i]/v)))
			}
		},
	}.Define()
	formula.Register("hill", 3, func(in []*ad.Node) *ad.Node { return Hill(in[0], in[1], in[2]) })
	stan.Register(stan.Function{Name: "hill", Args: []string{"vector", "real", "real"}, Result: "vector", Node: func(in []*ad.Node) *ad.Node { return Hill(in[0], in[1], in[2]) }})
}
