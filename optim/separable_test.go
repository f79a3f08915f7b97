// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// sums of two exponentials, with coefficients to project out.
func exponentials(x []float64) ([]*ad.Node, []*ad.Node) {
	p := inputs("r1", "r2")
	e := func(r *ad.Node) *ad.Node { return ad.Exp(ad.Neg(ad.Mul(r, ad.Const(x)))) }
	return []*ad.Node{ad.Scalar(1), e(p[0]), e(p[1])}, p
}

// Projected or not, the minimum and its errors are the same.
func TestSeparableAgreesWithLeastSquares(t *testing.T) {
	x := logspace(-1.5, 0.8, 50)
	rng := tensor.NewStream(11, 0, 0)
	basis, params := exponentials(x)
	const sets = 3
	var y, sigma []float64
	for k := range sets {
		for _, v := range x {
			s := 0.01 * (1 + v/10)
			y = append(y, 0.3+float64(k)*math.Exp(-4*v)+2*math.Exp(-0.7*v)+s*rng.Normal())
			sigma = append(sigma, s)
		}
	}
	for _, method := range []optim.Method{optim.LM, optim.TRF, optim.Dogbox} {
		for _, k := range []int{1, sets} {
			m := optim.Separable{Basis: basis, Params: params, Y: y[:k*len(x)], Sigma: sigma[:k*len(x)], Start: []float64{10, 0.1}}
			if k == 1 { // one set: its middle coefficient is 0 in truth, take the last set
				m.Y, m.Sigma = y[2*len(x):], sigma[2*len(x):]
			}
			r, err := optim.FitSeparable(context.Background(), m, optim.Settings{Method: method, RelativeSigma: true})
			if err != nil || !r.Status.Converged() {
				t.Fatalf("%s %d sets: %v %v", method, k, err, r)
			}
			// The same as one problem of all parameters.
			all := append([]*ad.Node{}, params...)
			var parts []*ad.Node
			for set := range k {
				c := inputs("a", "b", "c")
				all = append(all, c...)
				model := ad.AddN(c[0], ad.Mul(c[1], basis[1]), ad.Mul(c[2], basis[2]))
				from := (set + sets - 1) * len(x)
				if k > 1 {
					from = set * len(x)
				}
				parts = append(parts, ad.Div(ad.Sub(model, ad.Const(y[from:from+len(x)])), ad.Const(sigma[from:from+len(x)])))
			}
			p, err := optim.FromGraph(ad.Concat(0, parts...), all)
			if err != nil {
				t.Fatal(err)
			}
			p.Start = append([]float64{}, r.X...)
			for i := range p.Start {
				p.Start[i] *= 1.05
			}
			want, err := optim.LeastSquares(context.Background(), p, optim.Settings{RelativeSigma: true})
			if err != nil {
				t.Fatal(err)
			}
			if d := max(distance(r.X, want.X), distance(r.SD(), want.SD())); d > 1e-6 || math.Abs(r.Cost-want.Cost) > 1e-10*want.Cost {
				t.Errorf("%s %d sets: off by %.1e: %v, want %v", method, k, d, r.X, want.X)
			}
			if name := map[int]string{1: "c2", 3: "c2.1"}[k]; r.Names[3] != name {
				t.Errorf("names %v", r.Names)
			}
		}
	}
}

// A component that would be negative is left out, with its bound active.
func TestSeparableNonNegative(t *testing.T) {
	x := logspace(-1.5, 0.8, 40)
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = -0.2 + 2*math.Exp(-1.3*v)
	}
	basis, params := exponentials(x)
	m := optim.Separable{Basis: basis, Params: params, Y: y, Start: []float64{5, 0.5}, NonNegative: true, Lower: []float64{0, 0}, Upper: []float64{100, 100}}
	r, err := optim.FitSeparable(context.Background(), m, optim.Settings{})
	if err != nil || !r.Status.Converged() {
		t.Fatal(err, r)
	}
	if r.X[2] != 0 || r.Active[2] != -1 || r.Cost < 1e-3 {
		t.Errorf("%v active %v", r, r.Active)
	}
	for i, c := range r.X[2:] {
		if c < 0 {
			t.Errorf("coefficient %d is %g", i, c)
		}
	}
}

func TestSeparableOffsetAndMistakes(t *testing.T) {
	x := []float64{0, 1, 2, 3, 4, 5}
	a := ad.Input("a")
	m := optim.Separable{Basis: []*ad.Node{ad.Exp(ad.Neg(ad.Mul(a, ad.Const(x))))}, Params: []*ad.Node{a}, Offset: ad.Scale(0.5, ad.Mul(a, ad.Const(x))), Start: []float64{1}, Names: []string{"amplitude"}}
	for _, v := range x {
		m.Y = append(m.Y, 0.35*v+3*math.Exp(-0.7*v))
	}
	r, err := optim.FitSeparable(context.Background(), m, optim.Settings{})
	if err != nil || distance(r.X, []float64{0.7, 3}) > 1e-9 || r.Names[1] != "amplitude" {
		t.Errorf("%v %v", err, r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := optim.FitSeparable(ctx, m, optim.Settings{}); err == nil || r == nil || r.Status != optim.Interrupted {
		t.Errorf("cancelled: %v %v", err, r)
	}
	for want, change := range map[string]func(*optim.Separable){
		"no basis":              func(m *optim.Separable) { m.Basis = nil },
		"7 data, but the basis": func(m *optim.Separable) { m.Y = make([]float64, 7) },
		"Sigma has 5 values":    func(m *optim.Separable) { m.Sigma = make([]float64, 5) },
		"sigma[0] is 0":         func(m *optim.Separable) { m.Sigma = make([]float64, 6) },
		"2 names":               func(m *optim.Separable) { m.Names = []string{"a", "b"} },
		"start has 2":           func(m *optim.Separable) { m.Start = []float64{1, 2} },
		"NaN":                   func(m *optim.Separable) { m.Y = []float64{1, 2, 3, 4, 5, math.NaN()} },
	} {
		bad := m
		change(&bad)
		if _, err := optim.FitSeparable(context.Background(), bad, optim.Settings{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := optim.FitSeparable(context.Background(), m, optim.Settings{Loss: optim.Huber}); err == nil {
		t.Error("a robust loss, no error")
	}
}

// Conditions of Karush, Kuhn and Tucker, on random problems.
func TestNNLS(t *testing.T) {
	rng := tensor.NewStream(2, 0, 0)
	for trial := range 200 {
		m, n := 1+rng.IntN(12), 1+rng.IntN(10)
		a, b := rng.NormalTo(make([]float64, m*n)), rng.NormalTo(make([]float64, m))
		if trial%5 == 0 && n > 1 {
			copy(a[m:2*m], a[:m]) // equal columns
		}
		x, err := optim.NNLS(a, m, n, b)
		if err != nil {
			t.Fatal(err)
		}
		r := append([]float64{}, b...)
		for k, v := range x {
			for i := range r {
				r[i] -= v * a[k*m+i]
			}
		}
		for k, v := range x {
			g := 0.0
			for i := range r {
				g += a[k*m+i] * r[i]
			}
			if v < 0 || g > 1e-9 || v > 0 && math.Abs(g) > 1e-9 {
				t.Fatalf("trial %d: x[%d] is %g with gradient %g", trial, k, v, g)
			}
		}
	}
	if _, err := optim.NNLS([]float64{1, 2}, 2, 2, []float64{1, 2}); err == nil {
		t.Error("two elements as 2 x 2, no error")
	}
	if _, err := optim.NNLS([]float64{1, math.NaN()}, 2, 1, []float64{1, 2}); err == nil {
		t.Error("NaN, no error")
	}
}
