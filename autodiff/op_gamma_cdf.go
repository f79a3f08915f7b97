// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"sync"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// LogGammaP returns the logarithm of the regularised lower incomplete gamma
// function P(a, x), the distribution function of a Gamma distribution of shape a > 0 and
// rate 1 at x >= 0; exact in both tails.
//
// Gradient: exp((a-1) log x - x - log Gamma(a) - y) for x; for a an operation of
// the same family. Definition: https://dlmf.nist.gov/8.2.E4.
func LogGammaP(a, x *Node) *Node { return apply(gammaCDFOp(special.LowerGamma, 0), a, x) }

// LogGammaQ returns the logarithm of Q(a, x) = 1 - P(a, x), as LogGammaP does.
func LogGammaQ(a, x *Node) *Node { return apply(gammaCDFOp(special.UpperGamma, 0), a, x) }

var (
	tailOps   = map[tailKey]*Op{}
	tailOpsMu sync.Mutex
)

// gammaCDFOp returns the m-th derivative with respect to a, made at first use.
func gammaCDFOp(kind special.Incomplete, m int) *Op {
	tailOpsMu.Lock()
	defer tailOpsMu.Unlock()
	key := tailKey{kind, m, 0}
	if op := tailOps[key]; op != nil {
		return op
	}
	name := map[special.Incomplete]string{special.LowerGamma: "log_gamma_p_%d", special.UpperGamma: "log_gamma_q_%d"}[kind]
	op := Binary{
		Name:   fmt.Sprintf(name, m),
		CPU:    func(a, x float64) float64 { return special.LogIncomplete(kind, m, 0, a, 1, x) },
		CUDA:   fmt.Sprintf("eu_incomplete(%d, %d, 0, x, 1.0, y)", kind, m),
		Helper: special.CUDAStirling + special.CUDAPolygamma + special.CUDALog1pmx + special.CUDAIncomplete,
		Double: true,
		VJP: func(g, _, a, x *Node) (da, dx *Node) {
			return Mul(g, apply(gammaCDFOp(kind, m+1), a, x)), Mul(g, gammaHazard(kind, m, a, x))
		},
		Domain: Interval{0.5, 0.8},
	}.Define()
	tailOps[key] = op
	return op
}

// gammaHazard is the m-th derivative with respect to a of h, the derivative of
// log P or log Q with respect to x:
//
//	h = +-exp(log p - log P), h' = h u, u = d(log p)/da - d(log P)/da
func gammaHazard(kind special.Incomplete, m int, a, x *Node) *Node {
	lower := apply(gammaCDFOp(kind, 0), a, x)
	d := Sub(Sub(Mul(Shift(a, -1), Log(x)), x), Lgamma(a))
	h := []*Node{Exp(Sub(d, lower))}
	if kind == special.UpperGamma {
		h[0] = Neg(h[0])
	}
	var u []*Node // derivatives of u
	for i := range m {
		rest := Sub(Neg(Polygamma(i, a)), apply(gammaCDFOp(kind, i+1), a, x))
		if i == 0 {
			rest = Add(rest, Log(x))
		}
		u = append(u, rest)
		next := Scalar(0)
		for j, hj := range h {
			next = Add(next, Scale(special.Binomial(i, j), Mul(hj, u[i-j])))
		}
		h = append(h, next)
	}
	return h[m]
}

func init() {
	for _, kind := range []special.Incomplete{special.LowerGamma, special.UpperGamma} {
		gammaCDFOp(kind, 0)
		gammaCDFOp(kind, 1)
	}
}

// tailKey names a member of a family: which integral, and its derivative's order.
type tailKey struct {
	kind special.Incomplete
	m, n int
}
