// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/models/expr"
	"github.com/euryale-dev/euryale/optim"
)

// The errors of counts settle where the Poisson likelihood is largest: its derivatives vanish, and its neighbours are lower. The verdict takes the counts
// by their distribution.
func TestErrorsOfCounts(t *testing.T) {
	y := []float64{76, 70, 57, 36, 28, 33, 21, 17, 19, 9, 12, 7, 8, 3, 8, 4, 3, 4, 1, 3, 2, 5, 0, 1, 3, 2, 4, 1, 0, 2}
	x, roots := make([]float64, len(y)), make([]float64, len(y))
	for i, n := range y {
		x[i], roots[i] = 2*float64(i), math.Sqrt(max(n, 1))
	}
	p := &expr.Problem{Expr: "a*exp(-t/tau) + b", Y: "n", Sigma: "s", Data: map[string]expr.Column{"t": {Values: x}, "n": {Values: y}, "s": {Values: roots}}, Start: map[string]expr.Values{"a": {80}, "tau": {9}, "b": {2}}}
	start, err := p.ErrorsOfCounts(context.Background(), nil)
	if start == nil || err != nil {
		t.Fatalf("the errors did not settle: %v", err)
	}
	problem, s, err := p.LeastSquares()
	if err != nil {
		t.Fatal(err)
	}
	problem.Start = start
	r, v, err := p.Fit(context.Background(), problem, s)
	if err != nil || !v.OK {
		t.Errorf("%v %v", v, err)
	}
	likelihood := func(a, tau, b float64) (sum float64) {
		for i, n := range y {
			m := a*math.Exp(-2*float64(i)/tau) + b
			sum += n*math.Log(m) - m
		}
		return sum
	}
	a, tau, b := r.Value("a"), r.Value("tau"), r.Value("b")
	best := likelihood(a, tau, b)
	for k, h := range []float64{1e-3, 1e-4, 1e-4} {
		var d [3]float64
		d[k] = h
		up, down := likelihood(a+d[0], tau+d[1], b+d[2]), likelihood(a-d[0], tau-d[1], b-d[2])
		if slope, curvature := (up-down)/(2*h), (up+down-2*best)/(h*h); !(math.Abs(slope/curvature) < 1e-4) || up > best || down > best {
			t.Errorf("parameter %d: the likelihood has the slope %g and the curvature %g", k, slope, curvature)
		}
	}
}

// A fit that predicts counts below 0 keeps the errors that it had.
func TestErrorsOfNegativeCounts(t *testing.T) {
	p := &expr.Problem{Expr: "a + b*t", Y: "n", Sigma: "s", Start: map[string]expr.Values{"a": {30}, "b": {-9}}, Data: map[string]expr.Column{"t": {Values: []float64{0, 1, 2, 3}}, "n": {Values: []float64{30, 5, 0, 0}}, "s": {Values: []float64{5.5, 2.2, 1, 1}}}}
	if x, err := p.ErrorsOfCounts(context.Background(), nil); x != nil || err != nil || p.Data["s"].Values[0] != 5.5 {
		t.Errorf("%v %v %v", x, err, p.Data["s"].Values)
	}
}

// The profile of the deviance is that of the Poisson likelihood: for the mean m of counts of sum s it rises by 2 (n m - s + s log(s/(n m))).
func TestProfilesOfCounts(t *testing.T) {
	y := []float64{3, 5, 0, 2}
	p := &expr.Problem{Expr: "m + 0*t", Y: "n", Sigma: "s", Data: map[string]expr.Column{"t": {Values: []float64{1, 2, 3, 4}}, "n": {Values: y}, "s": {Values: []float64{1, 2, 1, 1}}}, Start: map[string]expr.Values{"m": {1}}}
	if x, err := p.ErrorsOfCounts(context.Background(), nil); x == nil || err != nil || math.Abs(x[0]-2.5) > 1e-9 {
		t.Fatalf("%v %v", x, err)
	}
	problem, s, err := p.LeastSquares()
	if err != nil {
		t.Fatal(err)
	}
	deviance, err := p.Deviance(problem)
	if err != nil {
		t.Fatal(err)
	}
	r, err := optim.LeastSquares(context.Background(), deviance, s)
	if err != nil || math.Abs(r.X[0]-2.5) > 1e-7 {
		t.Fatalf("%v %v", r, err)
	}
	all, err := optim.Profile(context.Background(), deviance, r, optim.ProfileSettings{Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []float64{all[0].Lower, all[0].Upper} {
		if rise := 2 * (4*m - 10 + 10*math.Log(10/(4*m))); math.Abs(rise-3.8414588) > 1e-5 {
			t.Errorf("at %g the likelihood has fallen by %g", m, rise)
		}
	}
	weighted, err := optim.LeastSquares(context.Background(), problem, s)
	if err != nil {
		t.Fatal(err)
	}
	of, err := p.DevianceOf(weighted)
	if want := 2 * r.Cost; err != nil || math.Abs(of-want) > 1e-6 {
		t.Errorf("a deviance of %g, want %g (%v)", of, want, err)
	}
}
