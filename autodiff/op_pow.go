// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// Pow returns x to the power y. It is NaN for x < 0 if y is not an integer.
//
// Gradient: y x^(y-1), which is 0 for y = 0 at every x, and x^y log x. Derivatives of every order follow the same rule:
// a term whose factor y (y-1) (y-2) ... is 0 is 0, so polynomials x^[0, 1, 2, 3] have theirs at x = 0, and a logarithm
// counts as 0 where x is negative, and where x is 0 unless the power itself is infinite.
func Pow(x, y *Node) *Node { return apply(powOp, x, y) }

var powOp *Op

var (
	powSlopes   = map[[2]int]*Op{}
	powSlopesMu sync.Mutex
)

// powSlopeOp returns the derivative of x^y of order n in x and m in y, made at first use.
func powSlopeOp(n, m int) *Op {
	powSlopesMu.Lock()
	defer powSlopesMu.Unlock()
	if op := powSlopes[[2]int{n, m}]; op != nil {
		return op
	}
	op := Binary{
		Name:   fmt.Sprintf("pow_%d_%d", n, m),
		CPU:    func(x, y float64) float64 { return special.PowSlope(n, m, x, y) },
		CUDA:   fmt.Sprintf("eu_pow_slope(%d, %d, x, y)", n, m),
		Helper: special.CUDAPowSlope,
		Double: true, // few use it, and pow of float loses digits
		VJP: func(g, _, x, y *Node) (dx, dy *Node) {
			return Mul(g, apply(powSlopeOp(n+1, m), x, y)), Mul(g, apply(powSlopeOp(n, m+1), x, y))
		},
		Domain: Interval{0.3, 3},
	}.Define()
	powSlopes[[2]int{n, m}] = op
	return op
}

// powSlope returns the derivative y x^(y-1). Constant powers keep the form that the compiler turns into products; a power
// of 0 is multiplied by 0.
func powSlope(x, y *Node) *Node {
	if !y.IsConst() || y.data == nil {
		return apply(powSlopeOp(1, 0), x, y)
	}
	less := make([]float64, len(y.data))
	for i, v := range y.data {
		if less[i] = v - 1; v == 0 {
			less[i] = 0
		}
	}
	return Mul(y, Pow(x, Const(less, y.shape...)))
}

func init() {
	powOp = Binary{
		Name: "pow", code: compiler.Pow,
		CPU:  math.Pow,
		CUDA: "pow(x, y)",
		VJP: func(g, z, x, y *Node) (dx, dy *Node) {
			if x.IsConst() && x.data != nil && slices.Min(append(x.data[:len(x.data):len(x.data)], math.Inf(1))) > 0 {
				return Mul(g, powSlope(x, y)), Mul(g, Mul(z, Log(x)))
			}
			return Mul(g, powSlope(x, y)), Mul(g, apply(powSlopeOp(0, 1), x, y))
		},
		Domain: Interval{0.3, 3},
	}.Define()
	powSlopeOp(1, 0)
	powSlopeOp(0, 1)
}
