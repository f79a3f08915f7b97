// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// spectrum is three overlapping peaks on a line, with noise.
func spectrum() (x, y []float64) {
	random := tensor.NewStream(6, 0, 0)
	gauss := func(u, a, c, s float64) float64 { return a / s / math.Sqrt(2*math.Pi) * math.Exp(-(u-c)*(u-c)/(2*s*s)) }
	for i := range 201 {
		u := float64(i) / 10
		m := gauss(u, 3000, 6, 0.8) + gauss(u, 900, 8.5, 0.5) + 2000/math.Pi*0.5/((u-12)*(u-12)+0.25) + 50 + 2*u
		x, y = append(x, u), append(y, m+8*random.Normal())
	}
	return x, y
}

// Peaks are found without any start, their widths stay above 0, and widths and heights are derived.
func TestComponentsAreFound(t *testing.T) {
	x, y := spectrum()
	p := &Problem{Expr: "gaussian(energy, a_) + gaussian(energy, b_) + lorentzian(energy, c_) + linear(energy, bg_)", Y: "y", Data: map[string]Column{"energy": {Values: x}, "y": {Values: y}}}
	p.Complete()
	if p.Bounds["a_sigma"] != (Bounds{0, inf}) || p.Derived["c_fwhm"] == "" || len(p.Derived) != 6 {
		t.Errorf("%v %v", p.Bounds, p.Derived)
	}
	if _, err := p.Guess(context.Background()); err != nil {
		t.Fatal(err)
	}
	least, s, err := p.LeastSquares()
	if err != nil {
		t.Fatal(err)
	}
	r, v, err := p.Fit(context.Background(), least, s)
	if err != nil || !v.OK {
		t.Fatal(err, v)
	}
	sd := r.SD()
	for i, name := range r.Names {
		want := map[string][]float64{"a_amplitude": {3000, 900}, "a_center": {6, 8.5}, "c_amplitude": {2000}, "c_center": {12}, "c_sigma": {0.5}, "bg_intercept": {50}, "bg_slope": {2}}[name]
		near := len(want) == 0
		for _, w := range want { // the gaussians may be either
			near = near || math.Abs(r.X[i]-w) < 4*sd[i]
		}
		if !near {
			t.Errorf("%s is %g +- %g, want %v", name, r.X[i], sd[i], want)
		}
	}
	q, err := p.Derive(r)
	parts, err2 := (&Fitted{Problem: p, Result: r}).Parts("energy", map[string]Column{"energy": {Values: []float64{r.Value("c_center")}}})
	if err2 != nil || len(parts) != 4 || parts[2].Name != "c (lorentzian)" || math.Abs(parts[2].Y[0]-r.Value("c_amplitude")/math.Pi/r.Value("c_sigma")) > 1e-9 {
		t.Errorf("%v %v", parts, err2)
	}
	if err != nil || len(q.X) != 6 || math.Abs(q.X[4]-2*r.Value("c_sigma")) > 1e-12 {
		t.Errorf("%v %v", q, err)
	}
}

// What the user says of a parameter, and names that are taken, stay.
func TestCompleteKeepsWhatIsThere(t *testing.T) {
	p, err := Parse([]byte(`{"expr": "gaussian(x, p_) + step(x, s_)", "bounds": {"p_sigma": [-1, 1]}, "fixed": {"s_sigma": 2}, "derived": {"p_fwhm": "p_sigma"}, "data": {"x": [1, 2], "p_height": [1, 2], "y": [1, 2]}}`))
	if err != nil || len(p.Bounds) != 1 || p.Bounds["p_sigma"][0] != -1 || len(p.Derived) != 1 || p.Derived["p_fwhm"] != "p_sigma" {
		t.Errorf("%+v %v", p, err)
	}
	// A start near each kind of component.
	for _, text := range []string{"step(x, p_)", "exponential(x, p_)", "voigt(x, p_)", "doniach(x, p_)", "exponential_gaussian(x, p_)", "pseudo_voigt(x, p_)"} {
		x, y := spectrum()
		p := &Problem{Expr: text, Y: "y", Data: map[string]Column{"x": {Values: x}, "y": {Values: y}}}
		if starts := p.componentStarts(); len(starts) == 0 || len(starts[0]) == 0 {
			t.Errorf("%s: %v", text, starts)
		}
	}
}

// Functions of all rows serve posteriors as well.
func TestModelOfRows(t *testing.T) {
	p, err := Parse([]byte(`{"expr": "spline3(x, 0, 4, b_) + shirley(x, gaussian(x, p_), k)", "sigma": "s", "priors": {"b_k1": "normal(0,1)", "b_k2": "normal(0,1)", "b_k3": "normal(0,1)", "p_amplitude": "normal(0,1)", "p_center": "normal(2,1)", "p_sigma": "lognormal(0,1)", "k": "normal(0,1)"},
		"data": {"x": [0, 1, 2, 3, 4], "y": [1, 2, 3, 2, 1], "s": [1, 1, 1, 1, 1]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Model(); err != nil {
		t.Error(err)
	}
}
