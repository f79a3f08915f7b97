// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"sync"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// Polygamma returns the n-th derivative of Digamma for n >= 0 (n = 1 is the
// trigamma function). Gradient: Polygamma(n+1, x).
func Polygamma(n int, x *Node) *Node {
	if n < 0 {
		return mistake("polygamma", "the order is %d: want at least 0", n)
	}
	if n == 0 {
		return Digamma(x)
	}
	return apply(polygammaOp(n), x)
}

var (
	polygammas   = map[int]*Op{}
	polygammasMu sync.Mutex
)

// polygammaOp returns the operation of order n, made at first use: each order's
// gradient needs the next.
func polygammaOp(n int) *Op {
	polygammasMu.Lock()
	defer polygammasMu.Unlock()
	if op := polygammas[n]; op != nil {
		return op
	}
	op := Unary{
		Name:   fmt.Sprintf("polygamma_%d", n),
		CPU:    func(x float64) float64 { return special.Polygamma(n, x) },
		CUDA:   fmt.Sprintf("eu_polygamma(%d, x)", n),
		Helper: special.CUDAPolygamma,
		VJP:    func(g, _, x *Node) *Node { return Mul(g, Polygamma(n+1, x)) },
		Domain: Interval{0.5, 12},
	}.Define()
	polygammas[n] = op
	return op
}

func init() {
	polygammaOp(1)
	polygammaOp(2)
}
