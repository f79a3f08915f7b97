// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/integrate/quad"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// wiener is the density of the time at which a diffusion first passes its upper boundary. Its parameters are the distance of the boundaries
// alpha, the time tau before the diffusion begins, the relative place beta where it begins, and its drift delta; then the standard
// deviation of the drift, and the widths of uniform distributions of the place, around beta, and of the time, from tau on.
func wiener(c *Call) (value.Value, error) {
	all := c.Args
	if len(all) == 7 || len(all) == 9 { // the last one is Stan's precision, which is less than that of the series here
		all = all[:len(all)-1]
	}
	args, shape, err := elements(all)
	if err != nil {
		return value.Value{}, err
	}
	if value.Size(shape) == 0 || c.Drop && allKnown(args...) {
		return value.Real(0), nil
	}
	lanes := lanesOf(args...)
	var p []*ad.Node
	for _, a := range args {
		p = append(p, ranked(a, len(shape)))
	}
	p[0] = ad.Sub(p[0], p[2])
	n, err := passage(p, args)
	if err != nil {
		return value.Value{}, err
	}
	return result(c, total(n, lanes, shape), lanes)
}

// passage is the log density of elements; p[0] is the time since tau.
func passage(p []*ad.Node, args []value.Value) (*ad.Node, error) {
	sv := ad.Scalar(0)
	if len(p) > 5 {
		sv = p[5]
	}
	if len(p) < 8 || zero(args[6]) && zero(args[7]) {
		return firstPassage(p[0], p[1], p[3], p[4], sv), nil
	}
	places, times := []float64{0}, []float64{0.5}
	placeWeights, timeWeights := []float64{1}, []float64{1}
	if !zero(args[6]) {
		places, placeWeights = quadrature(15, -0.5, 0.5)
	}
	if !zero(args[7]) {
		times, timeWeights = quadrature(50, 0, 1)
		for i, t := range times { // denser where little time is left, in which the density rises
			times[i], timeWeights[i] = 1-t*t*t, 3*t*t*timeWeights[i]
		}
	}
	var at, early, logWeight []float64
	for i, u := range places {
		for j, t := range times {
			at, early = append(at, u), append(early, t)
			logWeight = append(logWeight, math.Log(placeWeights[i]*timeWeights[j]))
		}
	}
	points := len(at)
	up := func(n *ad.Node) *ad.Node { return ad.Reshape(n, append(append([]int{}, n.Shape()...), 1)...) }
	x, a, w, v, s, sw, st := up(p[0]), up(p[1]), up(p[3]), up(p[4]), up(sv), up(p[6]), up(p[7])
	terms := ad.Const(logWeight, points)
	if !zero(args[7]) { // the diffusion cannot begin after its end
		span := ad.Minimum(st, x)
		terms = ad.Add(terms, ad.Log(ad.Div(span, st)))
		x = ad.Sub(x, ad.Mul(span, ad.Const(early, points)))
	}
	if !zero(args[6]) {
		w = ad.Add(w, ad.Mul(sw, ad.Const(at, points)))
	}
	f := ad.Add(terms, firstPassage(x, a, w, v, s))
	return ad.LogSumExp(f, len(f.Shape())-1), nil
}

// zero says that a value is known and 0.
func zero(v value.Value) bool {
	if !v.Known() {
		return false
	}
	for _, x := range v.F {
		if x != 0 {
			return false
		}
	}
	return true
}

// quadrature returns the points and weights of Gauss's quadrature between two numbers.
func quadrature(n int, from, to float64) (x, w []float64) {
	x, w = make([]float64, n), make([]float64, n)
	quad.Legendre{}.FixedLocations(x, w, from, to)
	return x, w
}

// firstPassage is the logarithm of the density at the time x of a diffusion with a drift that is normal with mean v and standard deviation s.
// Without a drift and for boundaries at 0 and 1, it is one of two series, of which one converges for short times and the other one for long
// ones; within 1e-15 each needs a few terms on its side (Navarro and Fuss 2009, doi:10.1016/j.jmp.2009.02.003).
func firstPassage(x, a, beta, v, s *ad.Node) *ad.Node {
	w, v := ad.Sub(ad.Scalar(1), beta), ad.Neg(v) // the upper boundary is the lower one of the diffusion that is turned over
	u := ad.Div(x, ad.Square(a))
	const border, overlap = 0.3, 0.05
	short, long := ad.Minimum(u, ad.Scalar(border+overlap)), ad.Maximum(u, ad.Scalar(border-overlap))
	var few []*ad.Node
	for k := -4; k <= 4; k++ {
		far := ad.Div(ad.Scale(2*float64(k), ad.Shift(w, float64(k))), short)
		few = append(few, ad.Mul(ad.Shift(w, 2*float64(k)), ad.Exp(ad.Neg(far))))
	}
	early := ad.Sub(ad.Log(ad.AddN(few...)), ad.AddN(ad.Scalar(halfLog2Pi), ad.Scale(1.5, ad.Log(short)), ad.Div(ad.Square(w), ad.Scale(2, short))))
	few = nil
	rate := ad.Scale(0.5*math.Pi*math.Pi, long)
	for k := 1; k <= 7; k++ {
		q := float64(k)
		few = append(few, ad.Scale(q, ad.Mul(ad.Sin(ad.Scale(q*math.Pi, w)), ad.Exp(ad.Scale(1-q*q, rate)))))
	}
	late := ad.Sub(ad.Shift(ad.Log(ad.AddN(few...)), math.Log(math.Pi)), rate)
	still := ad.Where(ad.Less(u, ad.Scalar(border)), early, late)
	s2 := ad.Square(s)
	grown := ad.Shift(ad.Mul(s2, x), 1)
	aw := ad.Mul(a, w)
	drift := ad.Div(ad.Sub(ad.Mul(s2, ad.Square(aw)), ad.Add(ad.Scale(2, ad.Mul(v, aw)), ad.Mul(ad.Square(v), x))), ad.Scale(2, grown))
	return ad.AddN(still, drift, ad.Scale(-0.5, ad.Log(grown)), ad.Scale(-2, ad.Log(a)))
}

func diffusions() {
	number := "real|vector"
	six := strings.Repeat(number+" ", 6)
	eight := six + number + " " + number
	register("wiener_lpdf", true, wiener, "reals reals reals reals reals => real", six+" => real", six+" data:real => real", eight+" => real", eight+" data:real => real")
	functions["wiener_lpdf"].Graph = true
}

// filters are the densities of states that move.
func filters() {
	joint("gaussian_dlm_obs_lpdf", kalman, func(a []value.Value) float64 { return -float64(a[0].Size()) * halfLog2Pi },
		"matrix matrix matrix matrix|vector matrix vector matrix => real")
}

// kalman is the log density of observations in the columns of y, by the filter of Kalman:
//
//	y_t ~ normal(F' theta_t, V),  theta_t ~ normal(G theta_(t-1), W),  theta_0 ~ normal(m0, C0)
//
// A vector in the place of V is its diagonal.
func kalman(x []*ad.Node, args []value.Value) (*ad.Node, error) {
	y, f, g, v, w, m0, c0 := x[0], x[1], x[2], x[3], x[4], x[5], x[6]
	rows, steps, n := args[0].Shape[0], args[0].Shape[1], args[2].Shape[0]
	for i, want := range [][]int{1: {n, rows}, 2: {n, n}, 3: {rows, rows}, 4: {n, n}, 5: {n}, 6: {n, n}} {
		have := args[i].Shape
		if i == 3 && len(have) == 1 {
			want = want[:1]
		}
		if i > 0 && sizes(have) != sizes(want) {
			return nil, fmt.Errorf("argument %d has size %s, and must have %s for %d observed and %d hidden numbers: check the dimensions of F and G", i+1, sizes(have), sizes(want), rows, n)
		}
	}
	if len(args[3].Shape) == 1 {
		v = ad.DiagMatrix(v)
	}
	last, _ := ad.Scan(func(carry, now []*ad.Node) (next, out []*ad.Node) {
		m, c, sum := carry[0], carry[1], carry[2]
		m = ad.MatMul(g, m)
		c = ad.Add(ad.MatMul(ad.MatMul(g, c), ad.T(g)), w)
		cf := ad.MatMul(c, f)
		q := symmetric(ad.Add(ad.MatMul(ad.T(f), cf), v))
		l := ad.CholeskyOrNaN(q)
		e := ad.Sub(ad.Reshape(now[0], rows, 1), ad.MatMul(ad.T(f), m))
		z := ad.SolveTriangular(l, e, true, false)
		k := ad.SolveTriangular(l, ad.T(cf), true, false) // the gain is k' l^-1
		sum = ad.Sub(sum, ad.AddN(ad.Scale(0.5, ad.Sum(ad.Square(z))), ad.Sum(ad.Log(ad.Diag(l))), ad.Scalar(float64(rows)*halfLog2Pi)))
		return []*ad.Node{ad.Add(m, ad.MatMul(ad.T(k), z)), symmetric(ad.Sub(c, ad.MatMul(ad.T(k), k))), sum}, nil
	}, []*ad.Node{ad.Reshape(m0, n, 1), c0, ad.Scalar(0)}, []*ad.Node{ad.T(y)}, steps, ad.ScanSettings{})
	return last[2], last[2].Err()
}
