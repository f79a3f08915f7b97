// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ode_test

import (
	"errors"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/ode"
)

func parts(v *ad.Node, n int) []*ad.Node {
	out := make([]*ad.Node, n)
	for i := range out {
		out[i] = ad.Index(v, 0, i)
	}
	return out
}

// algebraicRunner compiles a solution with its gradient of a weighted sum.
func algebraicRunner(t *testing.T, f func(t, y, rate *ad.Node, p []*ad.Node) *ad.Node, n, k int, times []float64, s ode.Settings) func(y0, rate0, p []float64) (z, dy, dp []float64, err error) {
	t.Helper()
	y0, rate0, p := ad.Input("y0", n), ad.Input("rate0", n), ad.Input("p", k)
	z := ode.SolveAlgebraic(f, y0, rate0, 0, times, p, s)
	w := make([]float64, z.Size())
	for i := range w {
		w[i] = 1 + 0.3*float64(i%5)
	}
	loss := ad.Dot(ad.Const(w, len(w)), ad.Reshape(z, z.Size()))
	prog, err := ad.Compile(append([]*ad.Node{z}, ad.Grad(loss, y0, p)...), ad.Settings{Inputs: []*ad.Node{y0, rate0, p}})
	if err != nil {
		t.Fatal(err)
	}
	st := prog.NewState()
	return func(a, b, c []float64) ([]float64, []float64, []float64, error) {
		copy(st.Input(0), a)
		copy(st.Input(1), b)
		copy(st.Input(2), c)
		err := st.Run()
		return st.Output(0), st.Output(1), st.Output(2), err
	}
}

// The equations y' = -k y + x, x + y = 1 have the solution y = c + (y0 - c) exp(-(k + 1) t) with c = 1/(k + 1).
func TestAlgebraic(t *testing.T) {
	f := func(_, y, rate *ad.Node, p []*ad.Node) *ad.Node {
		v, r := parts(y, 2), parts(rate, 2)
		return ad.Stack(0, ad.Sub(ad.Add(r[0], ad.Mul(p[0], v[0])), v[1]), ad.Shift(ad.Add(v[0], v[1]), -1))
	}
	times := []float64{0.5, 0.5, 2, 4}
	run := algebraicRunner(t, f, 2, 1, times, ode.Settings{RTol: 1e-10, ATol: 1e-10})
	const y0, k = 0.2, 1.5
	z, dy, dp, err := run([]float64{y0, 1 - y0}, []float64{1 - y0 - k*y0, k*y0 - 1 + y0}, []float64{k})
	if err != nil {
		t.Fatal(err)
	}
	c, byY, byK := 1/(k+1), 0.0, 0.0
	for i, at := range times {
		e := math.Exp(-(k + 1) * at)
		y := c + (y0-c)*e
		if math.Abs(z[2*i]-y) > 1e-9 || math.Abs(z[2*i+1]-1+y) > 1e-9 {
			t.Errorf("t = %g: %.12g and %.12g, want %.12g and the rest to 1", at, z[2*i], z[2*i+1], y)
		}
		w := (1 + 0.3*float64(2*i%5)) - (1 + 0.3*float64((2*i+1)%5))
		byY += w * e
		byK += w * (-c*c*(1-e) - (y0-c)*at*e)
	}
	if math.Abs(dy[0]-byY) > 1e-8 || math.Abs(dy[1]) > 1e-8 || math.Abs(dp[0]-byK) > 1e-8 {
		t.Errorf("the derivatives are %.12g, %.12g and %.12g, want %.12g, 0 and %.12g", dy[0], dy[1], dp[0], byY, byK)
	}
}

// Robertson's kinetics with the conservation of mass in place of the last equation; the numbers are those of TestStiff.
func TestAlgebraicStiff(t *testing.T) {
	f := func(_, y, rate *ad.Node, p []*ad.Node) *ad.Node {
		v, r := parts(y, 3), parts(rate, 3)
		a, b, c := ad.Mul(p[0], v[0]), ad.Mul(p[1], ad.Mul(v[1], v[2])), ad.Mul(p[2], ad.Square(v[1]))
		return ad.Stack(0, ad.Sub(r[0], ad.Sub(b, a)), ad.Sub(r[1], ad.Sub(ad.Sub(a, b), c)), ad.Shift(ad.AddN(v...), -1))
	}
	run := algebraicRunner(t, f, 3, 3, []float64{0.4, 40, 4e3, 4e5}, ode.Settings{RTol: 1e-8, ATol: 1e-12})
	z, _, _, err := run([]float64{1, 0, 0}, []float64{-0.04, 0.04, 0}, []float64{0.04, 1e4, 3e7})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{9.8517211386e-1, 7.1582706872e-1, 1.8320202246e-1, 4.9382741e-3} {
		if math.Abs(z[3*i]/want-1) > 2e-5 {
			t.Errorf("time %d: %.10g, want %.10g", i, z[3*i], want)
		}
	}
}

// An algebraic equation without a solution stops with an error at this point, and mistakes are told as a graph is built.
func TestAlgebraicMistakes(t *testing.T) {
	none := func(at, y, rate *ad.Node, _ []*ad.Node) *ad.Node { return ad.Add(ad.Square(y), ad.Reshape(at, 1)) }
	_, _, _, err := algebraicRunner(t, none, 1, 1, []float64{1}, ode.Settings{})([]float64{0}, []float64{0}, []float64{0})
	var stopped *ode.Error
	if !errors.As(err, &stopped) || !stopped.AtPoint() {
		t.Errorf("the error is %v, want one of this point", err)
	}
	y, p := ad.Input("y", 1), ad.Input("p", 1)
	short := func(_, y, _ *ad.Node, _ []*ad.Node) *ad.Node { return ad.Concat(0, y, y) }
	for _, n := range []*ad.Node{
		ode.SolveAlgebraic(short, y, y, 0, []float64{1}, p, ode.Settings{}),
		ode.SolveAlgebraic(none, y, y, 0, []float64{-1}, p, ode.Settings{}),
		ode.SolveAlgebraic(none, y, y, 0, nil, p, ode.Settings{}),
		ode.SolveAlgebraic(none, y, y, 0, []float64{1}, p, ode.Settings{RTol: -1}),
	} {
		if n.Err() == nil {
			t.Error("a mistake is not told")
		}
	}
}
