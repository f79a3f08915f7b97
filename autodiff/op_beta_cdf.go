// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// LogBetaI returns the logarithm of the regularised incomplete beta function
// I_x(a, b) at the logit s = log(x/(1-x)), the distribution function of a Beta distribution
// of shapes a and b; exact in both tails. The other tail is LogBetaI(b, a, -s).
//
// Gradient: exp(a log x + b log(1-x) - log B(a, b) - y) for s, computed without its differences; for a and b
// operations of the same family. Definition: https://dlmf.nist.gov/8.17.E2.
func LogBetaI(a, b, s *Node) *Node { return apply(betaCDFOp(0, 0), a, b, s) }

// LogBetaDensity returns a log x + b log(1-x) - log B(a, b) at the logit s = log(x/(1-x)), the log density of the logit of
// a number that has a Beta distribution of shapes a and b. Nothing cancels near the mode, or where a shape is large.
//
// Gradient: log x - digamma(a) + digamma(a+b) for a, likewise for b, and a (1-x) - b x for s.
func LogBetaDensity(a, b, s *Node) *Node { return apply(betaDensityOp, a, b, s) }

// betaCDFOp returns the derivative of order m in a and n in b, made at first use.
func betaCDFOp(m, n int) *Op {
	tailOpsMu.Lock()
	defer tailOpsMu.Unlock()
	key := tailKey{special.LowerBeta, m, n}
	if op := tailOps[key]; op != nil {
		return op
	}
	op := Ternary{
		Name:   fmt.Sprintf("log_beta_i_%d_%d", m, n),
		CPU:    func(a, b, s float64) float64 { return special.LogIncomplete(special.LowerBeta, m, n, a, b, s) },
		CUDA:   fmt.Sprintf("eu_incomplete(0, %d, %d, x, y, z)", m, n),
		Helper: incompleteHelper,
		Double: true,
		VJP: func(g, a, b, s *Node) (da, db, ds *Node) {
			return Mul(g, apply(betaCDFOp(m+1, n), a, b, s)), Mul(g, apply(betaCDFOp(m, n+1), a, b, s)), Mul(g, betaHazard(m, n, a, b, s))
		},
		Domain: Interval{0.05, 0.2},
	}.Define()
	tailOps[key] = op
	return op
}

// betaHazard is the derivative of order m in a and n in b of h = exp(log p - log I),
// the derivative of log I with respect to s, where p is the density of s. With
// u = d(log p - log I)/da, derivatives of h u follow from those of h and u; and
// likewise for b.
func betaHazard(m, n int, a, b, s *Node) *Node {
	c := Add(a, b)
	rest := func(i, j int) *Node { // derivative of log p - log I
		switch {
		case i == 1 && j == 0:
			return Sub(apply(betaScoreOp, a, b, s), apply(betaCDFOp(1, 0), a, b, s))
		case i == 0 && j == 1:
			return Sub(apply(betaScoreOp, b, a, Neg(s)), apply(betaCDFOp(0, 1), a, b, s))
		}
		d := Sub(Polygamma(i+j-1, c), apply(betaCDFOp(i, j), a, b, s))
		if j == 0 {
			d = Sub(d, Polygamma(i-1, a))
		}
		if i == 0 {
			d = Sub(d, Polygamma(j-1, b))
		}
		return d
	}
	h := map[[2]int]*Node{{0, 0}: apply(betaHazardOp, a, b, s)}
	for i := range m + 1 {
		for j := range n + 1 {
			if i+j == 0 {
				continue
			}
			di, dj := 1, 0 // the last derivative was in a, or else in b
			if i == 0 {
				di, dj = 0, 1
			}
			sum := Scalar(0)
			for p := 0; p <= i-di; p++ {
				for q := 0; q <= j-dj; q++ {
					c := special.Binomial(i-di, p) * special.Binomial(j-dj, q)
					sum = Add(sum, Scale(c, Mul(h[[2]int{p, q}], rest(i-p, j-q))))
				}
			}
			h[[2]int{i, j}] = sum
		}
	}
	return h[[2]int{m, n}]
}

func init() {
	betaCDFOp(0, 0)
	betaCDFOp(1, 0)
	betaCDFOp(0, 1)
	betaHazardOp = Ternary{
		Name:   "beta_hazard",
		CPU:    func(a, b, s float64) float64 { return special.IncompleteHazard(special.LowerBeta, a, b, s) },
		CUDA:   "eu_incomplete_hazard(0, x, y, z)",
		Helper: incompleteHelper + special.CUDAIncompleteHazard,
		Double: true,
		VJP: func(g, a, b, s *Node) (da, db, ds *Node) { // h' = h (a (1-x) - b x - h)
			h := apply(betaHazardOp, a, b, s)
			slope := Sub(Sub(Mul(a, Sigmoid(Neg(s))), Mul(b, Sigmoid(s))), h)
			return Mul(g, betaHazard(1, 0, a, b, s)), Mul(g, betaHazard(0, 1, a, b, s)), Mul(g, Mul(h, slope))
		},
		Domain: Interval{0.05, 0.2},
	}.Define()
	betaDensityOp = Ternary{
		Name:   "log_beta_density",
		CPU:    special.LogBetaDensity,
		CUDA:   "eu_log_beta_density(x, y, z)",
		Helper: incompleteHelper + special.CUDAIncompleteHazard,
		Double: true,
		VJP: func(g, a, b, s *Node) (da, db, ds *Node) {
			slope := Sub(Mul(a, Sigmoid(Neg(s))), Mul(b, Sigmoid(s)))
			return Mul(g, apply(betaScoreOp, a, b, s)), Mul(g, apply(betaScoreOp, b, a, Neg(s))), Mul(g, slope)
		},
		Domain: Interval{0.05, 0.2},
	}.Define()
	betaScoreOp = Ternary{
		Name:   "beta_shape_score",
		CPU:    special.BetaShapeScore,
		CUDA:   "eu_beta_shape_score(x, y, z)",
		Helper: incompleteHelper + special.CUDAIncompleteHazard,
		Double: true,
		VJP: func(g, a, b, s *Node) (da, db, ds *Node) {
			both := Mul(g, Polygamma(1, Add(a, b)))
			return Sub(both, Mul(g, Polygamma(1, a))), both, Mul(g, Sigmoid(Neg(s)))
		},
		Domain: Interval{0.05, 0.2},
	}.Define()
}

// betaHazardOp is the derivative of LogBetaI with respect to s, and betaScoreOp is log x - digamma(a) + digamma(a+b),
// the derivative of the log density with respect to a.
var betaHazardOp, betaScoreOp, betaDensityOp *Op
