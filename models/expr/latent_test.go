// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/optim"
)

// york is the data of Pearson with the weights of York, Can. J. Phys. 44, 1079 (1966), doi:10.1139/p66-090, and errors that are correlated with 0.3 in each row.
func york(t testing.TB, fields string) *Problem {
	t.Helper()
	x, y := []float64{0, 0.9, 1.8, 2.6, 3.3, 4.4, 5.2, 6.1, 6.5, 7.4}, []float64{5.9, 5.4, 4.4, 4.6, 3.5, 3.7, 2.8, 2.8, 2.4, 1.5}
	wx, wy := []float64{1000, 1000, 500, 800, 200, 80, 60, 20, 1.8, 1}, []float64{1, 1.8, 4, 8, 20, 20, 70, 70, 100, 500}
	var dx, dy []float64
	for i := range x {
		dx, dy = append(dx, 1/math.Sqrt(wx[i])), append(dy, 1/math.Sqrt(wy[i]))
	}
	data, err := json.Marshal(map[string]any{"x": x, "y": y, "dx": dx, "dy": dy})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse([]byte(`{"expr": "a + b*x", "sigma": "dy", "sigma_x": {"x": "dx"}, "data": ` + string(data) + `, ` + fields + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lineOfYork is the line of York et al., Am. J. Phys. 72, 367 (2004), doi:10.1119/1.1632486, equations 13, by iteration.
func lineOfYork(x, y, dx, dy []float64, r float64) (a, b float64) {
	b = -0.5
	for range 200 {
		var w []float64
		weights := 0.0
		sumX, sumY := 0.0, 0.0
		for i := range x {
			wx, wy := 1/(dx[i]*dx[i]), 1/(dy[i]*dy[i])
			alpha := math.Sqrt(wx * wy)
			w = append(w, wx*wy/(wx+b*b*wy-2*b*r*alpha))
			weights, sumX, sumY = weights+w[i], sumX+w[i]*x[i], sumY+w[i]*y[i]
		}
		mx, my := sumX/weights, sumY/weights
		n, d := 0.0, 0.0
		for i := range x {
			wx, wy := 1/(dx[i]*dx[i]), 1/(dy[i]*dy[i])
			u, v := x[i]-mx, y[i]-my
			beta := w[i] * (u/wy + b*v/wx - (b*u+v)*r/math.Sqrt(wx*wy))
			n, d = n+w[i]*beta*v, d+w[i]*beta*u
		}
		b = n / d
		a = my - b*mx
	}
	return a, b
}

// Errors of x and y of a row may be correlated; the line is that of York.
func TestCorrelationOfXAndY(t *testing.T) {
	for _, r := range []float64{0, 0.3, -0.8} {
		p := york(t, fmt.Sprintf(`"correlation_xy": {"x": "%g"}, "start": {"a": 5, "b": -0.5}`, r))
		least, s, err := p.LeastSquares()
		if err != nil {
			t.Fatal(err)
		}
		fit, err := optim.LeastSquares(context.Background(), least, s)
		if err != nil {
			t.Fatal(err)
		}
		a, b := lineOfYork(p.Data["x"].Values, p.Data["y"].Values, p.Data["dx"].Values, p.Data["dy"].Values, r)
		if math.Abs(fit.Value("a")-a) > 1e-7 || math.Abs(fit.Value("b")-b) > 1e-7 {
			t.Errorf("correlation %g: %.9g and %.9g, want %.9g and %.9g", r, fit.Value("a"), fit.Value("b"), a, b)
		}
	}
}

// Correlations that are none, or that nothing uses, are told.
func TestCorrelationsThatAreRefused(t *testing.T) {
	p := york(t, `"correlation_xy": {"x": "0.5"}, "start": {"a": 5, "b": -0.5}`)
	p.SigmaX = nil
	if _, _, err := p.LeastSquares(); err == nil || !strings.Contains(err.Error(), "give sigma_x") {
		t.Error(err)
	}
	for i := range p.Data["dy"].Values {
		p.Data["dy"].Values[i] = 0
	}
	p.CorrelationXY = nil
	if _, _, err := p.LeastSquares(); err == nil || !strings.Contains(err.Error(), "dy is 0 in row 1: want errors above 0") {
		t.Error(err)
	}
	for fields, want := range map[string]string{
		`"correlation_xy": {"x": "1.5"}`: "between -1 and 1", `"correlation_xy": {"x": "rr"}`: "neither a column", `"correlation_xy": {"z": "0.5"}`: "give them in sigma_x",
	} {
		p := york(t, fields+`, "start": {"a": 5, "b": -0.5}`)
		if _, _, err := p.LeastSquares(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", fields, err)
		}
	}
	zero := york(t, `"start": {"a": 5, "b": -0.5}`)
	zero.SigmaX["x"] = "0"
	if _, _, err := zero.LeastSquares(); err == nil || !strings.Contains(err.Error(), "are 0: want a number above 0") {
		t.Error(err)
	}
	if _, err := york(t, `"flat": ["a", "b"], "likelihood": "studentt(4, mu, sigma)", "correlation_xy": {"x": "0.5"}`).Model(); err == nil || !strings.Contains(err.Error(), "leave the likelihood out") {
		t.Error(err)
	}
	if _, _, err := york(t, `"flat": ["a", "b"]`).Stan(); err == nil || !strings.Contains(err.Error(), "errors of columns (sigma_x)") {
		t.Error(err)
	}
	if _, err := york(t, `"flat": ["a", "b"], "priors": {"x": "normal(4, m)"}`).Model(); err == nil || !strings.Contains(err.Error(), `"m" is neither`) {
		t.Error(err)
	}
}

// The log density of a line with errors in x, summed over true values by quadrature, is the known one with the variance sy^2 + b^2 sx^2 - 2 b r sx sy.
func TestLatentDensity(t *testing.T) {
	const sx, sy, r, x, y = 0.3, 0.2, 0.4, 1.5, 2.1
	for _, prior := range []string{"", `"priors": {"x": "normal(1, 2)"},`} {
		p, err := Parse(fmt.Appendf(nil, `{"expr": "a + b*x", "sigma": "s", "sigma_x": {"x": "%g"}, "correlation_xy": {"x": "%g"}, %s "flat": ["a", "b"], "data": {"x": [%g], "y": [%g], "s": [%g]}}`, sx, r, prior, x, y, sy))
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.Model()
		if err != nil {
			t.Fatal(err)
		}
		post, err := m.Compile()
		if err != nil {
			t.Fatal(err)
		}
		grad := make([]float64, post.Len())
		density := func(a, b float64) float64 {
			sum := 0.0
			const step = 0.01
			for u := -6.0; u < 8; u += step {
				q, err := post.Unconstrain(map[string][]float64{"a": {a}, "b": {b}, "x_true": {u}}, 0)
				if err != nil {
					t.Fatal(err)
				}
				lp, err := post.LogProbGrad(q, grad)
				if err != nil {
					t.Fatal(err)
				}
				sum += step * math.Exp(lp)
			}
			return math.Log(sum)
		}
		want := func(a, b float64) float64 {
			mean, variance := a+b*x, sy*sy+b*b*sx*sx-2*b*r*sx*sy
			if prior != "" { // x and y are normal together
				v := 4 + sx*sx
				c := b*4 + r*sx*sy
				mean, variance = a+b+c/v*(x-1), b*b*4+sy*sy-c*c/v
			}
			return -(y-mean)*(y-mean)/(2*variance) - math.Log(variance)/2
		}
		if got, w := density(0.4, 1.3)-density(1, 0.5), want(0.4, 1.3)-want(1, 0.5); math.Abs(got-w) > 1e-6 {
			t.Errorf("prior %q: the densities differ by %.8g, want %.8g", prior, got, w)
		}
	}
}

// Chains begin at what was measured.
func TestStartsOfLatentValues(t *testing.T) {
	p := york(t, `"flat": ["a", "b"], "start": {"a": 5.5, "b": -0.5}`)
	m, err := p.Model()
	if err != nil {
		t.Fatal(err)
	}
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.Starts(post, 2, 1)
	if err != nil || len(all) != 2 || len(all[0]) != 12 {
		t.Error(err, len(all))
	}
}
