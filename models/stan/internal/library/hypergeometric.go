// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
	"github.com/euryale-dev/euryale/tensor"
)

// mostTerms is how many terms a series may have before it counts as divergent.
const mostTerms = 1_000_000

// hypergeometricSeries is the generalised hypergeometric function (DLMF 16.2.1)
//
//	pFq(a; b; z) = sum over k of (a_1)_k ... (a_p)_k/((b_1)_k ... (b_q)_k) z^k/k!
//
// of p, q and z, in an array of p + q + 1 numbers. If d is not nil, it gets the derivatives with respect to all of these. The result is not a
// number where the series does not converge.
func hypergeometricSeries(p int, x, d []float64) float64 {
	n := len(x) - 1
	z := x[n]
	clear(d)
	moved := make([]float64, n) // derivatives of the logarithm of a term
	sum, term := 1.0, 1.0
	small := 0
	for k := range mostTerms {
		at := float64(k)
		ratio := z / (at + 1)
		for i, v := range x[:n] {
			if i < p {
				ratio *= v + at
			} else {
				ratio /= v + at
			}
			if d != nil && v+at != 0 {
				moved[i] += 1 / (v + at)
			}
		}
		before := term
		term *= ratio
		sum += term
		least := math.Abs(term) * (1 + at)
		if d != nil {
			for i := range n {
				step := term * moved[i]
				if i >= p {
					step = -step
				}
				d[i] += step
			}
			d[n] += before * ratio / z * (at + 1)
		}
		if small++; least > 1e-18*math.Abs(sum) {
			small = 0
		}
		if small > 3 || term == 0 {
			if d != nil && z == 0 {
				d[n] = slope(p, x[:n])
			}
			return sum
		}
		if math.IsNaN(term) || math.IsInf(term, 0) {
			break
		}
	}
	for i := range d {
		d[i] = math.NaN()
	}
	return math.NaN()
}

// slope is the derivative at z = 0.
func slope(p int, x []float64) float64 {
	s := 1.0
	for i, v := range x {
		if i < p {
			s *= v
		} else {
			s /= v
		}
	}
	return s
}

// hypergeometric is the function of a node of p + q + 1 numbers.
func hypergeometric(p int, x *ad.Node) *ad.Node {
	return ad.Call(&ad.Custom{Name: "hypergeometric_pFq",
		Shape: func(...tensor.Shape) (tensor.Shape, error) { return tensor.Shape{}, nil },
		Forward: func(out []float64, in ...[]float64) error {
			out[0] = hypergeometricSeries(p, in[0], nil)
			return nil
		},
		Adjoint: func(dIn [][]float64, g, _ []float64, in ...[]float64) error {
			hypergeometricSeries(p, in[0], dIn[0])
			for i := range dIn[0] {
				dIn[0][i] *= g[0]
			}
			return nil
		}}, x)
}

// hypergeometrics registers hypergeometric functions and those of the incomplete beta function.
func hypergeometrics() {
	series := func(c *Call) (value.Value, error) {
		a, b, z := c.Args[0], c.Args[1], c.Args[2]
		if c.Name == "hypergeometric_3F2" && (a.Size() != 3 || b.Size() != 2) {
			return a, fmt.Errorf("there are %d and %d parameters: want 3 and 2", a.Size(), b.Size())
		}
		if a.Size() > b.Size()+1 {
			return a, fmt.Errorf("with %d and %d parameters the series converges nowhere but at 0: use at most one more in the first list", a.Size(), b.Size())
		}
		x := []*ad.Node{ad.Reshape(z.Node(), 1)}
		for _, v := range []value.Value{b, a} {
			if v.Size() > 0 {
				x = append([]*ad.Node{ad.Reshape(v.Node(), v.Size())}, x...)
			}
		}
		return result(c, hypergeometric(a.Size(), ad.Concat(0, x...)), 0)
	}
	list := "list|int[]"
	register("hypergeometric_3F2", false, series, list+" "+list+" real => real")
	register("hypergeometric_pFq", false, series, list+" "+list+" real => real")
	register("hypergeometric_2F1", false, func(c *Call) (value.Value, error) {
		a1, a2, b, z := c.Args[0].Node(), c.Args[1].Node(), c.Args[2].Node(), c.Args[3].Node()
		of := func(a, z *ad.Node) *ad.Node { return hypergeometric(2, ad.Stack(0, a, a2, b, z)) }
		// below 0 by Pfaff's transformation (DLMF 15.8.1), which converges faster, and also below -1
		below := ad.Less(z, ad.Scalar(0))
		one := ad.Sub(ad.Scalar(1), z)
		a := ad.Where(below, ad.Sub(b, a1), a1)
		at := ad.Where(below, ad.Div(z, ad.Sub(z, ad.Scalar(1))), z)
		scale := ad.Where(below, ad.Exp(ad.Neg(ad.Mul(a2, ad.Log(ad.Where(below, one, ad.Scalar(1)))))), ad.Scalar(1))
		return result(c, ad.Mul(scale, of(a, at)), 0)
	}, "real real real real => real")
	register("inc_beta", false, func(c *Call) (value.Value, error) {
		return result(c, incBeta(c.Args[0].Node(), c.Args[1].Node(), c.Args[2].Node()), 0)
	}, "real real real => real")
	register("inv_inc_beta", false, func(c *Call) (value.Value, error) {
		return result(c, inverseBeta(c.Args[0].Node(), c.Args[1].Node(), c.Args[2].Node()), 0)
	}, "real real real => real")
}

// incBeta is the regularised incomplete beta function of x from 0 to 1.
func incBeta(a, b, x *ad.Node) *ad.Node {
	return ad.Exp(ad.LogBetaI(a, b, ad.Sub(ad.Log(x), ad.Log1p(ad.Neg(x)))))
}

// inverseBeta is the x at which the incomplete beta function of a and b is p. The last of its steps of Newton carries the derivative.
func inverseBeta(a, b, p *ad.Node) *ad.Node {
	start := ad.Call(&ad.Custom{Name: "inv_inc_beta",
		Shape: func(...tensor.Shape) (tensor.Shape, error) { return tensor.Shape{}, nil },
		Forward: func(out []float64, in ...[]float64) error {
			a, b, p := in[0][0], in[1][0], in[2][0]
			if !(a > 0 && b > 0 && p >= 0 && p <= 1) {
				out[0] = math.NaN()
				return nil
			}
			out[0] = mathext.InvRegIncBeta(a, b, p)
			return nil
		}}, ad.StopGradient(a), ad.StopGradient(b), ad.StopGradient(p))
	x := ad.StopGradient(start)
	step := func(x, a, b, p *ad.Node) *ad.Node {
		end := ad.Mul(ad.LessEqual(x, ad.Scalar(0)), ad.Scalar(1))
		end = ad.Maximum(end, ad.GreaterEqual(x, ad.Scalar(1)))
		in := ad.Where(end, ad.Scalar(0.5), x)
		density := ad.Exp(ad.Sub(ad.Add(ad.Mul(ad.Shift(a, -1), ad.Log(in)), ad.Mul(ad.Shift(b, -1), ad.Log1p(ad.Neg(in)))), lbeta(a, b)))
		miss := ad.Sub(incBeta(a, b, in), p)
		return ad.Where(end, x, ad.Sub(in, ad.Div(miss, ad.StopGradient(density))))
	}
	x = ad.StopGradient(step(x, ad.StopGradient(a), ad.StopGradient(b), ad.StopGradient(p)))
	return step(x, a, b, p)
}
