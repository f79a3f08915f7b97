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
	return apply(expRemainderOp(k), x)
}

var (
	expRemainders   = map[int]*Op{}
	expRemaindersMu sync.Mutex
)

// expRemainderOp returns the operation of k terms, made at first use: each one's gradient needs the next.
func expRemainderOp(k int) *Op {
	expRemaindersMu.Lock()
	defer expRemaindersMu.Unlock()
	if op := expRemainders[k]; op != nil {
		return op
	}
	op := Unary{
		Name:   fmt.Sprintf("exp_remainder_%d", k),
		CPU:    func(x float64) float64 { return special.ExpRemainder(k, x) },
		CUDA:   fmt.Sprintf("eu_exp_remainder(%d, x)", k),
		Helper: special.CUDAExpRemainder,
		VJP: func(g, y, x *Node) *Node {
			return Mul(g, Sub(y, Scale(float64(k), ExpRemainder(k+1, x))))
		},
		Domain: Interval{-3, 3},
	}.Define()
	expRemainders[k] = op
	return op
}

func init() {
	expRemainderOp(1)
	expRemainderOp(2)
}
