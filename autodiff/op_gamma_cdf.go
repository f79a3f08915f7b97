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
// Gradient: exp((a-1) log x - x - log Gamma(a) - y) for x, computed without its differences; for a an operation of
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
		Helper: incompleteHelper,
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
	h := []*Node{apply(gammaHazardOps[kind], a, x)}
	if kind == special.UpperGamma {
		h[0] = Neg(h[0])
	}
	var u []*Node // derivatives of u
	for i := range m {
		u = append(u, gammaScoreGap(kind, i, a, x))
		next := Scalar(0)
		for j, hj := range h {
			next = Add(next, Scale(special.Binomial(i, j), Mul(hj, u[i-j])))
		}
		h = append(h, next)
	}
	return h[m]
}

// gammaScoreGap is the i-th derivative with respect to a of d(log p)/da - d(log P)/da.
func gammaScoreGap(kind special.Incomplete, i int, a, x *Node) *Node {
	if i == 0 {
		return Sub(apply(gammaScoreOp, a, x), apply(gammaCDFOp(kind, 1), a, x))
	}
	return Sub(Neg(Polygamma(i, a)), apply(gammaCDFOp(kind, i+1), a, x))
}

var (
	gammaHazardOps = map[special.Incomplete]*Op{} // the derivatives of log P and of -log Q with respect to x
	gammaScoreOp   *Op                            // log x - digamma(a)
)

func defineGammaHazard(kind special.Incomplete, name string) {
	gammaHazardOps[kind] = Binary{
		Name:   name,
		CPU:    func(a, x float64) float64 { return special.IncompleteHazard(kind, a, 1, x) },
		CUDA:   fmt.Sprintf("eu_incomplete_hazard(%d, x, 1.0, y)", kind),
		Helper: incompleteHelper + special.CUDAIncompleteHazard,
		Double: true,
		VJP: func(g, h, a, x *Node) (da, dx *Node) { // h' = h ((a-1)/x - 1 -+ h)
			slope := Shift(Div(Shift(a, -1), x), -1)
			if kind == special.UpperGamma {
				slope = Add(slope, h)
			} else {
				slope = Sub(slope, h)
			}
			g = Mul(g, h)
			none := Equal(h, Scalar(0)) // also where x is infinite
			return Where(none, Scalar(0), Mul(g, gammaScoreGap(kind, 0, a, x))), Where(none, Scalar(0), Mul(g, slope))
		},
		Domain: Interval{0.5, 0.8},
	}.Define()
}

const incompleteHelper = special.CUDAStirling + special.CUDAPolygamma + special.CUDALog1pmx + special.CUDAIncomplete

func init() {
	for _, kind := range []special.Incomplete{special.LowerGamma, special.UpperGamma} {
		gammaCDFOp(kind, 0)
		gammaCDFOp(kind, 1)
	}
	defineGammaHazard(special.LowerGamma, "gamma_p_hazard")
	defineGammaHazard(special.UpperGamma, "gamma_q_hazard")
	gammaScoreOp = Binary{
		Name:   "gamma_shape_score",
		CPU:    special.GammaShapeScore,
		CUDA:   "eu_gamma_shape_score(x, y)",
		Helper: incompleteHelper + special.CUDAIncompleteHazard,
		Double: true,
		VJP:    func(g, _, a, x *Node) (da, dx *Node) { return Neg(Mul(g, Polygamma(1, a))), Div(g, x) },
		Domain: Interval{0.5, 0.8},
	}.Define()
}

// tailKey names a member of a family: which integral, and its derivative's order.
type tailKey struct {
	kind special.Incomplete
	m, n int
}
