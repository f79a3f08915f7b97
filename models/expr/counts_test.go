// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/models/expr"
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
