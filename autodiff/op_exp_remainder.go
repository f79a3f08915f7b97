// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"sync"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// ExpRemainder returns the remainder of the series of e^x after the first k terms, divided by x^k:
// (e^x - 1 - x - ... ) / x^k for k >= 0, which is 1/k! at 0. ExpRemainder(1, x) is (e^x - 1)/x, the
// mean of e^(s x) over s from 0 to 1, without cancellation.
//
// Gradient: ExpRemainder(k, x) - k ExpRemainder(k+1, x), of any order.
func ExpRemainder(k int, x *Node) *Node {
	if k < 0 {
		return mistake("exp_remainder", "the number of terms is %d: want at least 0", k)
	}
	if k == 0 {
		return Exp(x)
	}
	return apply(expRemainderOp(k, 0), x)
}

var (
	expRemainders   = map[[2]int]*Op{}
	expRemaindersMu sync.Mutex
)

// expRemainderOp returns the m-th derivative of the operation of k terms, made at first use.
func expRemainderOp(k, m int) *Op {
	expRemaindersMu.Lock()
	defer expRemaindersMu.Unlock()
	if op := expRemainders[[2]int{k, m}]; op != nil {
		return op
	}
	name := fmt.Sprintf("exp_remainder_%d", k)
	if m > 0 {
		name += fmt.Sprintf("_slope_%d", m)
	}
	op := Unary{
		Name:   name,
		CPU:    func(x float64) float64 { return special.ExpRemainderSlope(k, m, x) },
		CUDA:   fmt.Sprintf("eu_exp_remainder(%d, %d, x)", k, m),
		Helper: special.CUDAExpRemainder,
		Double: m > 0, // left of the series digits cancel
		VJP:    func(g, _, x *Node) *Node { return Mul(g, apply(expRemainderOp(k, m+1), x)) },
		Domain: Interval{-3, 3},
	}.Define()
	expRemainders[[2]int{k, m}] = op
	return op
}

func init() {
	expRemainderOp(1, 0)
	expRemainderOp(2, 0)
}
