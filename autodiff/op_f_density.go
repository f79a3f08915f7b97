// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "github.com/euryale-dev/euryale/autodiff/internal/special"

// LogFDensity returns LogBetaDensity(a, b, t + log(a/b)), the log density of the logarithm t of a number that has an F
// distribution with 2 a and 2 b degrees of freedom. Its derivatives keep their digits where one shape is far above the
// other: there those of LogBetaDensity with respect to a shape and to the logit nearly cancel.
//
// Gradient: log(1+z) - z/(1+z), with the opposite sign, for a, with z = b/(a+b) (exp(-t) - 1), and what
// log a - digamma(a) exceeds that of a+b by; likewise for b; a b (1-x)/(a x + b) for t = log x.
func LogFDensity(a, b, t *Node) *Node { return apply(fDensityOp, a, b, t) }

// fScoreOp is the derivative with respect to a.
var fDensityOp, fScoreOp *Op

func init() {
	fDensityOp = Ternary{
		Name:   "log_f_density",
		CPU:    special.LogFDensity,
		CUDA:   "eu_log_f_density(x, y, z)",
		Helper: incompleteHelper + special.CUDAIncompleteHazard + special.CUDAExpRemainder + special.CUDAFDensity,
		Double: true,
		VJP: func(g, a, b, t *Node) (da, db, dt *Node) {
			e := Neg(Abs(t))
			whole := Where(Greater(t, Scalar(0)), Add(a, Mul(b, Exp(e))), Neg(Add(Mul(a, Exp(e)), b)))
			slope := Mul(Mul(a, Expm1(e)), Div(b, whole))
			return Mul(g, apply(fScoreOp, a, b, t)), Mul(g, apply(fScoreOp, b, a, Neg(t))), Mul(g, slope)
		},
		Domain: Interval{0.05, 0.2},
	}.Define()
	fScoreOp = Ternary{
		Name:   "f_shape_score",
		CPU:    special.FShapeScore,
		CUDA:   "eu_f_shape_score(x, y, z)",
		Helper: incompleteHelper + special.CUDAIncompleteHazard + special.CUDAExpRemainder + special.CUDAFDensity,
		Double: true,
		VJP: func(g, a, b, t *Node) (da, db, dt *Node) { // -h(z), h' = z/(1+z)^2
			c := Add(a, b)
			w, v := Expm1(Neg(t)), Add(Div(a, c), Mul(Div(b, c), Exp(Neg(t)))) // v = 1 + z
			z := Mul(Div(b, c), w)
			fall := Neg(Mul(g, Div(Div(z, v), v)))
			rest := func(x *Node) *Node { return Sub(Reciprocal(x), Polygamma(1, x)) }
			da = Sub(Mul(g, Sub(rest(a), rest(c))), Div(Mul(fall, z), c))
			db = Sub(Mul(fall, Mul(Div(a, c), Div(w, c))), Mul(g, rest(c)))
			return da, db, Neg(Mul(fall, Mul(Div(b, c), Shift(w, 1))))
		},
		Domain: Interval{0.05, 0.2},
	}.Define()
}
