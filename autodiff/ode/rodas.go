// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ode

import ad "github.com/euryale-dev/euryale/autodiff"

// The coefficients of RODAS in the form without matrix products; its authors'
// code and book agree on them.
const rodasGamma = 0.25

var (
	rodasAlpha = []float64{0, 0.386, 0.21, 0.63, 1, 1}
	rodasD     = []float64{0.25, -0.1043, 0.1035, -0.0362, 0, 0}
	rodasA     = [][]float64{
		nil,
		{1.544},
		{0.9466785280815826, 0.2557011698983284},
		{3.314825187068521, 2.896124015972201, 0.9986419139977817},
		{1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950},
		{1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1},
	}
	rodasC = [][]float64{
		nil,
		{-5.6688},
		{-2.430093356833875, -0.2063599157091915},
		{-0.1073529058151375, -9.594562251023355, -20.47028614809616},
		{7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
		{8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054},
	}
)

// rodas returns the state after a step and the estimate of its error:
//
//	(1/(h gamma) - J) k_i = f(t + alpha_i h, y + sum a_ij k_j) + sum c_ij k_j/h + h d_i f_t
func (g *graph) rodas() (next, estimate []*ad.Node) {
	if g.few() {
		return g.rodasOfFew()
	}
	rate := join(g.rate(g.t, g.y, g.p))
	n := rate.Size()
	jacobian := make([]*ad.Node, len(g.y))
	for j, y := range g.y {
		jacobian[j] = ad.Reshape(ad.Jacobian(rate, y), n, y.Size())
	}
	overTime := ad.Reshape(ad.Jacobian(rate, g.t), n)
	eye := make([]float64, n*n)
	for i := range n {
		eye[i*n+i] = 1
	}
	a := ad.Sub(ad.Div(ad.Const(eye, n, n), ad.Scale(rodasGamma, g.h)), ad.Concat(1, jacobian...))
	var k [][]*ad.Node
	y := g.y
	for i, alpha := range rodasAlpha {
		right := rate
		if i > 0 {
			y = g.plus(g.y, false, rodasA[i], k)
			t := ad.Add(g.t, ad.Scale(alpha, g.h))
			var terms []*ad.Node
			for j, c := range rodasC[i] {
				terms = append(terms, ad.Scale(c, join(k[j])))
			}
			right = ad.Add(join(g.rate(t, y, g.p)), ad.Div(ad.AddN(terms...), g.h))
		}
		if d := rodasD[i]; d != 0 {
			right = ad.Add(right, ad.Mul(ad.Scale(d, g.h), overTime))
		}
		k = append(k, g.cut(ad.Reshape(ad.Solve(a, ad.Reshape(right, n, 1)), n)))
	}
	last := k[len(k)-1]
	for i := range y {
		next = append(next, ad.Add(y[i], last[i]))
	}
	return next, last
}

// join makes one vector of the parts of a state.
func join(parts []*ad.Node) *ad.Node {
	flat := make([]*ad.Node, len(parts))
	for i, p := range parts {
		flat[i] = ad.Reshape(p, p.Size())
	}
	return ad.Concat(0, flat...)
}

// cut is the inverse of join.
func (g *graph) cut(v *ad.Node) (parts []*ad.Node) {
	at := 0
	for _, y := range g.y {
		parts = append(parts, ad.Reshape(ad.Slice(v, 0, at, at+y.Size()), y.Shape()...))
		at += y.Size()
	}
	return parts
}
