// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"sync"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// StirlingError returns the error of Stirling's formula for log Gamma at x > 0,
//
//	log Gamma(x) - ((x - 1/2) log x - x + log(2 pi)/2) = 1/(12 x) - 1/(360 x^3) + ...
//
// exact to the last digits where Lgamma of a large x would drown them: distributions that need
// differences of log Gamma are written with it. It is infinite at 0 and NaN below. Gradient: its
// derivative, an operation of the same family.
func StirlingError(x *Node) *Node { return apply(stirlingOp(0), x) }

var (
	stirlings   = map[int]*Op{}
	stirlingsMu sync.Mutex
)

// stirlingOp returns the n-th derivative of StirlingError, made at first use.
func stirlingOp(n int) *Op {
	stirlingsMu.Lock()
	defer stirlingsMu.Unlock()
	if op := stirlings[n]; op != nil {
		return op
	}
	op := Unary{
		Name:   fmt.Sprintf("stirling_error_%d", n),
		CPU:    func(x float64) float64 { return special.StirlingError(n, x) },
		CUDA:   fmt.Sprintf("eu_stirling_error(%d, x)", n),
		Helper: special.CUDAStirling,
		VJP:    func(g, _, x *Node) *Node { return Mul(g, apply(stirlingOp(n+1), x)) },
		Domain: Interval{0.5, 14},
	}.Define()
	stirlings[n] = op
	return op
}

func init() {
	stirlingOp(0)
	stirlingOp(1)
}
