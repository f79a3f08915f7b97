// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
)

// farModel is a curve with true parameters and a start that knows nothing of their size.
type farModel struct {
	name        string
	linear      bool
	params      int
	of          func(x *ad.Node, p []*ad.Node) *ad.Node
	true, start []float64
}

// farModels multiplies the true values of linear parameters by the size; others are of order 1.
func farModels(size float64) []farModel {
	line := func(x *ad.Node, p []*ad.Node) *ad.Node { return ad.Mul(p[0], x) }
	slope := func(x *ad.Node, p []*ad.Node) *ad.Node { return ad.Add(ad.Mul(p[0], x), p[1]) }
	peak := func(x *ad.Node, p []*ad.Node) *ad.Node {
		return ad.Add(ad.Mul(p[0], ad.Exp(ad.Scale(-0.5, ad.Square(ad.Div(ad.Sub(x, p[1]), p[2]))))), p[3])
	}
	decay := func(x *ad.Node, p []*ad.Node) *ad.Node { return ad.Mul(p[0], ad.Exp(ad.Neg(ad.Mul(p[1], x)))) }
	return []farModel{
		{"line", true, 1, line, []float64{1.99 * size}, []float64{1}},
		{"line from 0", true, 1, line, []float64{1.99 * size}, []float64{0}},
		{"line from below", true, 1, line, []float64{1.99 * size}, []float64{-1}},
		{"line with offset", true, 2, slope, []float64{2 * size, -0.7 * size}, []float64{1, 1}},
		{"offset alone is large", true, 2, slope, []float64{2, size}, []float64{1, 1}},
		{"peak", false, 4, peak, []float64{size, 2.6, 0.8, 0.01 * size}, []float64{1, 3, 1, 0}},
		{"decay", false, 2, decay, []float64{size, 0.9}, []float64{1, 1}},
	}
}

// A start of 0 or 1 says nothing about the scale of the parameters. From there every method reaches the minimum of a linear
// model, and of another model a minimum, or it says that it did not.
func TestStartsFarFromTheScale(t *testing.T) {
	x := make([]float64, 40)
	for i := range x {
		x[i] = 0.05 + float64(i)*0.15
	}
	for _, size := range []float64{1e-30, 1e-9, 1, 1e5, 1e9, 4e10, 1e14, 1e17, 1e30, 1e100} {
		for _, m := range farModels(size) {
			params := make([]*ad.Node, m.params)
			for i := range params {
				params[i] = ad.Input(fmt.Sprintf("p%d", i))
			}
			y := noisy(t, m, x)
			node := m.of(ad.Const(x), params)
			for _, method := range []optim.Method{optim.LM, optim.TRF, optim.Dogbox} {
				for _, noPolish := range []bool{false, true} {
					p, err := optim.FromGraph(ad.Sub(node, ad.Const(y)), params)
					if err != nil {
						t.Fatal(err)
					}
					p.Start = m.start
					r, err := optim.LeastSquares(context.Background(), p, optim.Settings{Method: method, RelativeSigma: true, NoPolish: noPolish})
					if err != nil {
						t.Fatal(err)
					}
					checkFar(t, fmt.Sprintf("%s, size %g, %s, no polish %v", m.name, size, method, noPolish), m, r.X, r.SD(), r.Status, r.NFev, cosine(r))
				}
			}
			in := ad.Input("y", len(y))
			b, err := optim.NewBatch(ad.Sub(node, in), params, in)
			if err != nil {
				t.Fatal(err)
			}
			res, err := b.Fit(context.Background(), optim.Rows{Columns: [][]float64{y}, Start: m.start}, optim.BatchSettings{RelativeSigma: true})
			if err != nil {
				t.Fatal(err)
			}
			p, err := optim.FromGraph(ad.Sub(node, ad.Const(y)), params)
			if err != nil {
				t.Fatal(err)
			}
			p.Start = res.Row(0)
			r, err := optim.LeastSquares(context.Background(), p, optim.Settings{MaxEvaluations: 1})
			if err != nil {
				t.Fatal(err)
			}
			checkFar(t, fmt.Sprintf("%s, size %g, batch", m.name, size), m, res.Row(0), res.SDs(0), res.Status[0], res.NFev[0], cosine(r))
		}
	}
}

// noisy returns the true curve with errors of a thousandth of its largest value.
func noisy(t *testing.T, m farModel, x []float64) []float64 {
	t.Helper()
	p := make([]*ad.Node, len(m.true))
	for i, v := range m.true {
		p[i] = ad.Scalar(v)
	}
	v, err := ad.Eval(m.of(ad.Const(x), p))
	if err != nil {
		t.Fatal(err)
	}
	y := append([]float64(nil), v[0].Data().([]float64)...)
	most := 0.0
	for _, v := range y {
		most = max(most, math.Abs(v))
	}
	for i := range y {
		y[i] += 1e-3 * most * math.Sin(float64(i*i)*1.7)
	}
	return y
}

// cosine is the largest cosine of the angle between the residuals and a column of the Jacobian.
func cosine(r *optim.Result) float64 {
	worst := 0.0
	for k := range r.X {
		col := r.Jacobian[k*r.M : (k+1)*r.M]
		dot, a, b := 0.0, 0.0, 0.0
		for i, j := range col {
			dot, a, b = dot+j*r.Residuals[i], a+j*j, b+r.Residuals[i]*r.Residuals[i]
		}
		if a > 0 && b > 0 {
			worst = max(worst, math.Abs(dot)/math.Sqrt(a)/math.Sqrt(b))
		}
	}
	return worst
}

func checkFar(t *testing.T, what string, m farModel, got, sd []float64, status optim.Status, evaluations int, cosine float64) {
	t.Helper()
	if !status.Converged() {
		if m.linear {
			t.Errorf("%s: %s after %d evaluations at %v, want %v", what, status, evaluations, got, m.true)
		}
		return
	}
	for i, w := range m.true {
		if near := math.Abs(math.Abs(got[i])-math.Abs(w)) <= 6*sd[i]; !near && (m.linear || cosine > 1e-3) { // the width of a peak may have either sign
			t.Errorf("%s: called converged after %d evaluations at %v +- %v, where a cosine is %.2g, want %v", what, evaluations, got, sd, cosine, m.true)
			return
		}
	}
}
