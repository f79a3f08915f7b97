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

// twoDecays is b + c1 exp(-x/t1) + c2 exp(-x/t2) with a little structured error.
func twoDecays(t testing.TB) *optim.Problem {
	t.Helper()
	x, y := make([]float64, 40), make([]float64, 40)
	for i := range x {
		x[i] = float64(i) / 8
		y[i] = 0.5 + 2*math.Exp(-x[i]/0.4) + math.Exp(-x[i]/1.6) + 0.01*math.Sin(float64(13*i*i))
	}
	p := inputs("b", "c1", "t1", "c2", "t2")
	e := func(c, t *ad.Node) *ad.Node { return ad.Mul(c, ad.Exp(ad.Neg(ad.Div(ad.Const(x), t)))) }
	prob, err := optim.FromModel(ad.AddN(p[0], e(p[1], p[2]), e(p[3], p[4])), p, optim.Observed{Y: y})
	if err != nil {
		t.Fatal(err)
	}
	prob.Start = []float64{0.3, 1.5, 0.3, 1.2, 2}
	return prob
}

func inputs(names ...string) []*ad.Node {
	out := make([]*ad.Node, len(names))
	for i, n := range names {
		out[i] = ad.Input(n)
	}
	return out
}

// A tie through expressions must agree with the same model written with fewer
// parameters, and carry errors along.
func TestTiedParameters(t *testing.T) {
	ctx := context.Background()
	tied := map[string]*ad.Node{
		"t2": ad.Scale(4, ad.Input("t1")),
		"c2": ad.Div(ad.Input("c1"), ad.Sqrt(ad.Input("t2"))), // through another tied one
	}
	for _, method := range []optim.Method{optim.LM, optim.TRF, optim.Dogbox} {
		r, err := optim.LeastSquares(ctx, twoDecays(t), optim.Settings{Method: method, Tied: tied})
		if err != nil || !r.Status.Converged() {
			t.Fatalf("%s: %v %v", method, err, r)
		}
		if math.Abs(r.Value("t2")-4*r.Value("t1")) > 1e-14 || math.Abs(r.Value("c2")-r.Value("c1")/math.Sqrt(r.Value("t2"))) > 1e-14 || r.NFree != 3 {
			t.Errorf("%s: %v", method, r)
		}
		sd, corr := r.SD(), r.Correlation()
		if math.Abs(sd[4]-4*sd[2]) > 1e-12 || math.Abs(corr[2*5+4]-1) > 1e-12 {
			t.Errorf("%s: sd %v, correlation of t1 and t2 %g", method, sd, corr[2*5+4])
		}
		// The delta rule by differences of c2 = c1/sqrt(4 t1).
		g1, g2 := 1/math.Sqrt(4*r.X[2]), -r.X[1]/math.Sqrt(4*r.X[2])/(2*r.X[2])
		want := g1*g1*r.Cov[1*5+1] + 2*g1*g2*r.Cov[1*5+2] + g2*g2*r.Cov[2*5+2]
		if math.Abs(r.Cov[3*5+3]/want-1) > 1e-9 {
			t.Errorf("%s: variance of c2 %g, want %g", method, r.Cov[3*5+3], want)
		}
	}
	for want, bad := range map[string]map[string]*ad.Node{
		`no parameter "c3": did you mean`: {"c3": ad.Scalar(1)},
		"depend on each other":            {"c1": ad.Input("c2"), "c2": ad.Input("c1")},
		`no parameter "z9"`:               {"c1": ad.Input("z9")},
		"want an expression with one":     {"c1": ad.Input("c2", 3)},
	} {
		if _, err := optim.LeastSquares(ctx, twoDecays(t), optim.Settings{Tied: bad}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	p := twoDecays(t)
	p.Lower = []float64{0, 0, 0, 0, 0}
	if _, err := optim.LeastSquares(ctx, p, optim.Settings{Tied: tied}); err == nil || !strings.Contains(err.Error(), "put the bounds on the parameters") {
		t.Error(err)
	}
	if _, err := optim.LeastSquares(ctx, twoDecays(t), optim.Settings{Tied: tied, Fixed: map[string]float64{"t2": 1}}); err == nil {
		t.Error("fixed and tied, no error")
	}
}

// A linear problem with a Gaussian prior has a posterior in closed form.
func TestPriorsAreResiduals(t *testing.T) {
	x, y := []float64{0, 1, 2, 3}, []float64{1.1, 2.9, 5.2, 7.1}
	p := inputs("a", "b")
	prob, err := optim.FromModel(ad.Add(p[0], ad.Mul(p[1], ad.Const(x))), p, optim.Observed{Y: y, Sigma: []float64{.1, .2, .1, .3}})
	if err != nil {
		t.Fatal(err)
	}
	prob.Start = []float64{0, 0}
	cov := []float64{.04, .01, .01, .09}
	prior := optim.Prior{Names: []string{"b", "a"}, Mean: []float64{1.5, 2}, Cov: cov}
	r, err := optim.LeastSquares(context.Background(), prob, optim.Settings{Priors: []optim.Prior{prior}})
	if err != nil {
		t.Fatal(err)
	}
	// Normal equations: precision = X^T W X + C^-1, in the order a, b.
	det := cov[0]*cov[3] - cov[1]*cov[2]
	h := []float64{cov[0] / det, -cov[1] / det, -cov[1] / det, cov[3] / det}
	g := []float64{h[0]*2 + h[1]*1.5, h[2]*2 + h[3]*1.5}
	for i, s := range []float64{.1, .2, .1, .3} {
		w := 1 / (s * s)
		h[0], h[1], h[3] = h[0]+w, h[1]+w*x[i], h[3]+w*x[i]*x[i]
		g[0], g[1] = g[0]+w*y[i], g[1]+w*x[i]*y[i]
	}
	h[2] = h[1]
	d := h[0]*h[3] - h[1]*h[2]
	want := []float64{(h[3]*g[0] - h[1]*g[1]) / d, (h[0]*g[1] - h[2]*g[0]) / d}
	if distance(r.X, want) > 1e-12 || distance(r.Cov, []float64{h[3] / d, -h[1] / d, -h[1] / d, h[0] / d}) > 1e-10 || len(r.Residuals) != 6 {
		t.Errorf("%v %v, want %v", r.X, r.Cov, want)
	}
	// A loss forgives data, not beliefs.
	robust, err := optim.LeastSquares(context.Background(), prob, optim.Settings{Priors: []optim.Prior{optim.Gaussian("a", 50, 1e-4)}, Loss: optim.Cauchy})
	if err != nil || math.Abs(robust.X[0]-50) > 1e-3 {
		t.Errorf("%v %v", err, robust)
	}
	for want, bad := range map[string]optim.Prior{
		"not positive definite":    {Names: []string{"a"}, Mean: []float64{0}, Cov: []float64{0}},
		`no parameter "c"`:         optim.Gaussian("c", 0, 1),
		"finite":                   optim.Gaussian("a", math.NaN(), 1),
		"1 parameter, but 0 means": {Names: []string{"a"}, Cov: []float64{1}},
	} {
		if _, err := optim.LeastSquares(context.Background(), prob, optim.Settings{Priors: []optim.Prior{bad}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Whitening by a full covariance is generalised least squares.
func TestCovarianceOfData(t *testing.T) {
	y := []float64{1, 2, 4}
	cov := []float64{1, .5, 0, .5, 2, .3, 0, .3, .5}
	a := ad.Input("a")
	p, err := optim.FromModel(a, []*ad.Node{a}, optim.Observed{Y: y, Cov: cov})
	if err != nil {
		t.Fatal(err)
	}
	p.Start = []float64{0}
	r, err := optim.LeastSquares(context.Background(), p, optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	// 1^T C^-1 y / 1^T C^-1 1 with the adjugate of C.
	adj := []float64{2*.5 - .09, -.25, .15, -.25, .5, -.3, .15, -.3, 2 - .25}
	top, bottom := 0.0, 0.0
	for i := range 3 {
		for j := range 3 {
			top, bottom = top+adj[3*i+j]*y[j], bottom+adj[3*i+j]
		}
	}
	det := 1*adj[0] + .5*adj[1]
	if math.Abs(r.X[0]-top/bottom) > 1e-12 || math.Abs(r.Cov[0]-det/bottom) > 1e-12 {
		t.Errorf("%g +- %v, want %g, variance %g", r.X[0], r.Cov, top/bottom, det/bottom)
	}
	for want, d := range map[string]optim.Observed{
		"both Sigma and Cov":    {Y: y, Sigma: y, Cov: cov},
		"sigma[1] is 0":         {Y: y, Sigma: []float64{1, 0, 1}},
		"not positive definite": {Y: y, Cov: make([]float64, 9)},
		"want 9":                {Y: y, Cov: make([]float64, 4)},
		"NaN":                   {Y: []float64{math.NaN()}},
	} {
		if _, err := optim.FromModel(a, []*ad.Node{a}, d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestCriteriaAndCorrelation(t *testing.T) {
	r, err := optim.LeastSquares(context.Background(), twoDecays(t), optim.Settings{RelativeSigma: true})
	if err != nil {
		t.Fatal(err)
	}
	m, chi2 := 40.0, r.ChiSquared()
	if want := m*math.Log(chi2/m) + 10; math.Abs(r.AIC()-want) > 1e-9 {
		t.Errorf("AIC %g, want %g", r.AIC(), want)
	}
	if want := m*math.Log(chi2/m) + 5*math.Log(m); math.Abs(r.BIC()-want) > 1e-9 {
		t.Errorf("BIC %g, want %g", r.BIC(), want)
	}
	r2, err := optim.LeastSquares(context.Background(), twoDecays(t), optim.Settings{})
	if err != nil || math.Abs(r2.AIC()-chi2-10) > 1e-9 || math.Abs(r2.AICc()-r2.AIC()-60./34) > 1e-9 {
		t.Errorf("AIC with known errors %g, want %g", r2.AIC(), chi2+10)
	}
	corr := r.Correlation()
	for i := range 5 {
		for j := range 5 {
			if c := corr[5*i+j]; c != corr[5*j+i] || math.Abs(c) > 1 || i == j && c != 1 {
				t.Errorf("correlation %d %d is %g", i, j, c)
			}
		}
	}
}

func TestGuessAndProgress(t *testing.T) {
	p := rosenbrock()
	p.Start, p.Guess = nil, func() ([]float64, error) { return []float64{-1.2, 1}, nil }
	last, steps := math.Inf(1), 0
	r, err := optim.LeastSquares(context.Background(), p, optim.Settings{Progress: func(s optim.Progress) {
		if steps++; s.Step != steps || s.Cost > last*(1+1e-9) || len(s.X) != 2 {
			t.Errorf("step %+v after %d with cost %g", s, steps, last)
		}
		last = s.Cost
	}})
	if err != nil || steps != r.Steps || steps < 5 {
		t.Errorf("%d steps, %v %v", steps, err, r)
	}
}

// Many parameters in one input: columns by lanes of unit vectors.
func TestJacobianByLanes(t *testing.T) {
	const n = 70
	p, q := tridiagonalGraph(t, n), tridiagonal(n)
	j, want := make([]float64, n*n), make([]float64, n*n)
	if err := p.Jacobian(j, p.Start); err != nil {
		t.Fatal(err)
	}
	tridiagonalProducts(q)
	e := make([]float64, n)
	for k := range n {
		e[k] = 1
		if err := q.JVP(want[k*n:(k+1)*n], p.Start, e); err != nil {
			t.Fatal(err)
		}
		e[k] = 0
	}
	for i := range want {
		if j[i] != want[i] {
			t.Fatalf("element %d is %g, want %g", i, j[i], want[i])
		}
	}
	r, err := optim.LeastSquares(context.Background(), p, optim.Settings{})
	if err != nil || r.Cost > 1e-20 || r.Rank != n {
		t.Errorf("%v %v", err, r.Cost)
	}
}

func TestBadSparsity(t *testing.T) {
	for want, s := range map[string]*optim.Sparsity{
		"want 3 row starts":           {Row: []int{0, 1}, Column: []int{0}},
		"ascending":                   {Row: []int{0, 2, 2}, Column: []int{1, 0}},
		"row 0 of the":                {Row: []int{0, 1, 1}, Column: []int{2}},
		"in ascending order, up to 1": {Row: []int{0, 2, 1}, Column: []int{0}},
	} {
		p := rosenbrock()
		p.Sparsity = s
		if _, err := optim.LeastSquares(context.Background(), p, optim.Settings{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Under least squares with errors that are as large as assumed the sandwich is
// close to the customary covariance; where one half of the data is ten times as
// noisy it is what repeated data show.
func TestSandwichCovariance(t *testing.T) {
	const m, n = 400, 800
	rng := tensor.NewStream(7, 0, 0)
	x := make([]float64, m)
	for i := range x {
		x[i] = float64(i) / m
	}
	p := inputs("a", "b")
	y := ad.Input("y", m)
	prob, err := optim.FromGraph(ad.Sub(ad.Add(p[0], ad.Mul(p[1], ad.Const(x))), y), p, optim.Data{Node: y, Values: x})
	if err != nil {
		t.Fatal(err)
	}
	prob.Start = []float64{0, 0}
	for _, loss := range []optim.Loss{optim.Linear, optim.SoftL1} {
		mean, square, predicted := 0.0, 0.0, 0.0
		for range n {
			data := rng.NormalTo(make([]float64, m))
			for i := range data {
				if i >= m/2 {
					data[i] *= 10
				}
			}
			if err := prob.SetData(data); err != nil {
				t.Fatal(err)
			}
			r, err := optim.LeastSquares(context.Background(), prob, optim.Settings{Loss: loss})
			if err != nil {
				t.Fatal(err)
			}
			mean, square = mean+r.X[1]/n, square+r.X[1]*r.X[1]/n
			predicted += r.Sandwich()[3] / n
		}
		seen := square - mean*mean
		if math.Abs(predicted/seen-1) > 0.2 { // the variance of 800 has an error of 5 %
			t.Errorf("%q: predicted variance %g, seen %g", loss, predicted, seen)
		}
	}
	r, err := optim.LeastSquares(context.Background(), twoDecays(t), optim.Settings{Tied: map[string]*ad.Node{"t2": ad.Scale(4, ad.Input("t1"))}})
	if err != nil || math.Abs(r.SandwichSD()[4]/r.SandwichSD()[2]-4) > 1e-9 {
		t.Errorf("tied: %v %v", err, r.SandwichSD())
	}
}
