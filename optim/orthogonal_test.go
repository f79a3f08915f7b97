// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// orthogonal fits a problem with errors in its variables.
func orthogonal(t *testing.T, d optim.ErrorsInX, start []float64, s optim.Settings) (*optim.Orthogonal, *optim.Result) {
	t.Helper()
	o, err := optim.FromErrorsInX(d)
	if err != nil {
		t.Fatal(err)
	}
	o.Start = start
	r, err := optim.LeastSquares(context.Background(), o.Problem, s)
	if err != nil || !r.Status.Converged() {
		t.Fatal(err, r)
	}
	return o, r
}

// near compares numbers to a relative tolerance.
func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tolerance*math.Abs(w)) {
			t.Errorf("%s[%d] is %.10g, want %.10g", what, i, got[i], w)
		}
	}
}

// The explicit example of the ODRPACK user guide (NISTIR 92-4834, 1992, section 4.A): the results of its package, 1264.65480506, -54.0184099567 and
// -0.0878497121653, are those of its tolerance; SciPy's odr, 1.17.1, gives the numbers below with tighter ones. The first two places and the last are exact.
func TestODRPACKExplicit(t *testing.T) {
	x := []float64{0, 0, 5, 7, 7.5, 10, 16, 26, 30, 34, 34.5, 100}
	y := []float64{1265, 1263.6, 1258, 1254, 1253, 1249.8, 1237, 1218, 1220.6, 1213.8, 1215.5, 1212}
	sigma := []float64{0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0}
	in, xs := inputs("b1", "b2", "b3"), ad.Input("x", len(x))
	f := ad.Add(in[0], ad.Mul(in[1], ad.Square(ad.Expm1(ad.Mul(in[2], xs)))))
	o, r := orthogonal(t, optim.ErrorsInX{Responses: []optim.Response{{Model: f, Y: y}}, Params: in, Variables: []optim.Variable{{Node: xs, Values: x, Sigma: sigma}}},
		[]float64{1500, -50, -0.1}, optim.Settings{RelativeSigma: true})
	near(t, "b", r.X, []float64{1264.6548104946046, -54.018386855821085, -0.087849851564221954}, 3e-9)
	near(t, "sd", r.SD(), []float64{1.0349272345673063, 1.5839967141570488, 0.0063322190074415}, 3e-7)
	near(t, "sum of squares", []float64{2 * r.Cost}, []float64{21.445501659400623}, 1e-9)
	moved, err := o.True(r)
	if err != nil || moved[0][0] != 0 || moved[0][11] != 100 || moved[0][3] == x[3] {
		t.Errorf("%v %v", moved, err)
	}
}

// The implicit example of the user guide (section 4.B), an ellipse: the results of its package, of which the penalty that stands for the surface leaves four to six
// digits.
func TestODRPACKImplicit(t *testing.T) {
	x := []float64{0.5, 1.2, 1.6, 1.86, 2.12, 2.36, 2.44, 2.36, 2.06, 1.74, 1.34, 0.9, -0.28, -0.78, -1.36, -1.90, -2.50, -2.88, -3.18, -3.44}
	y := []float64{-0.12, -0.6, -1.0, -1.4, -2.54, -3.36, -4.0, -4.75, -5.25, -5.64, -5.97, -6.32, -6.44, -6.44, -6.41, -6.25, -5.88, -5.5, -5.24, -4.86}
	in, u, v := inputs("b1", "b2", "b3", "b4", "b5"), ad.Input("u", len(x)), ad.Input("v", len(y))
	du, dv := ad.Sub(u, in[0]), ad.Sub(v, in[1])
	f := ad.Shift(ad.Add(ad.Add(ad.Mul(in[2], ad.Square(du)), ad.Scale(2, ad.Mul(in[3], ad.Mul(du, dv)))), ad.Mul(in[4], ad.Square(dv))), -1)
	one := []float64{1}
	o, r := orthogonal(t, optim.ErrorsInX{Responses: []optim.Response{{Model: f}}, Params: in, Variables: []optim.Variable{{Node: u, Values: x, Sigma: one}, {Node: v, Values: y, Sigma: one}}},
		[]float64{-1, -3, 0.09, 0.02, 0.08}, optim.Settings{RelativeSigma: true})
	near(t, "b", r.X, []float64{-0.9993809167281279, -2.9310484652026476, 0.0875730502693354, 0.0162299708984738, 0.0797537982976416}, 2e-6)
	near(t, "sd", r.SD(), []float64{0.1113840353364371, 0.1097673310686467, 0.0041060738314314, 0.0027500347539902, 0.0034962501532468}, 1e-3)
	// At the true values the model is 0.
	moved, err := o.True(r)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x {
		p, q := moved[0][i]-r.X[0], moved[1][i]-r.X[1]
		if f := r.X[2]*p*p + 2*r.X[3]*p*q + r.X[4]*q*q - 1; math.Abs(f) > 1e-10 {
			t.Errorf("point %d is %g off the curve", i, f)
		}
	}
}

// The example with two responses of the user guide (section 4.C), whose weights make combinations of them independent; points of weight 0 are left out, and places below
// 100 are exact.
func TestODRPACKResponses(t *testing.T) {
	var x, y1, y2, sigma []float64
	re := []float64{4.22, 4.167, 4.132, 4.038, 4.019, 3.956, 3.884, 3.784, 3.713, 3.633, 3.54, 3.433, 3.358, 3.258, 3.193, 3.128, 3.059, 2.984, 2.934, 2.876, 2.838, 2.798, 2.759}
	im := []float64{.136, .167, .188, .212, .236, .257, .276, .297, .309, .311, .314, .311, .305, .289, .277, .255, .24, .218, .202, .182, .168, .153, .139}
	l11 := math.Sqrt(559.6)
	l12 := -1634 / l11
	l22 := math.Sqrt(8397 - l12*l12)
	for i, f := range []float64{30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 7000, 10000, 15000, 20000, 30000, 50000, 70000, 100000, 150000} {
		if f == 100 || f == 150 {
			continue
		}
		s := 100 * f // the root of 1/(1e-4/f^2)
		if f < 100 {
			s = 0
		}
		x, sigma, y1, y2 = append(x, f), append(sigma, s), append(y1, l11*re[i]+l12*im[i]), append(y2, l22*im[i])
	}
	in, xs := inputs("b1", "b2", "b3", "b4", "b5"), ad.Input("x", len(x))
	theta := ad.Scale(math.Pi/2, in[3])
	w := ad.Pow(ad.Scale(2*math.Pi, ad.Mul(xs, ad.Exp(ad.Neg(in[2])))), in[3])
	c, s := ad.Shift(ad.Mul(w, ad.Cos(theta)), 1), ad.Mul(w, ad.Sin(theta))
	phi := ad.Atan2(s, c)
	rad := ad.Mul(ad.Sub(in[0], in[1]), ad.Pow(ad.Sqrt(ad.Add(ad.Square(c), ad.Square(s))), ad.Neg(in[4])))
	f1, f2 := ad.Add(in[1], ad.Mul(rad, ad.Cos(ad.Mul(in[4], phi)))), ad.Mul(rad, ad.Sin(ad.Mul(in[4], phi)))
	_, r := orthogonal(t, optim.ErrorsInX{Responses: []optim.Response{{Model: ad.Add(ad.Scale(l11, f1), ad.Scale(l12, f2)), Y: y1}, {Model: ad.Scale(l22, f2), Y: y2}}, Params: in,
		Variables: []optim.Variable{{Node: xs, Values: x, Sigma: sigma}}}, []float64{4, 2, 7, .4, .5}, optim.Settings{RelativeSigma: true})
	near(t, "b", r.X, []float64{4.3799880305938963, 2.4333057577497703, 8.0028845899503978, 0.5101147161764654, 0.5173902330489161}, 1e-6)
	for k := range r.X { // ODRPACK counts points, where there are two numbers each, as degrees of freedom
		r.Cov[k*5+k] *= float64(2*len(x)-5) / float64(len(x)-5)
	}
	near(t, "sd", r.SD(), []float64{0.0130625231081944, 0.0130499785273277, 0.1167085962217757, 0.0132642749596149, 0.0288529201353984}, 1e-3)
}

// Pearson's data with York's errors: intercept 5.47991022 and slope -0.480533407 (York 1969, doi:10.1016/S0012-821X(68)80059-7). The covariance of variables says the same if y is a variable of an
// implicit model.
func TestYork(t *testing.T) {
	x := []float64{0, .9, 1.8, 2.6, 3.3, 4.4, 5.2, 6.1, 6.5, 7.4}
	y := []float64{5.9, 5.4, 4.4, 4.6, 3.5, 3.7, 2.8, 2.8, 2.4, 1.5}
	wx := []float64{1000, 1000, 500, 800, 200, 80, 60, 20, 1.8, 1}
	wy := []float64{1, 1.8, 4, 8, 20, 20, 70, 70, 100, 500}
	sx, sy, cov := make([]float64, 10), make([]float64, 10), make([]float64, 40)
	for i := range x {
		sx[i], sy[i] = 1/math.Sqrt(wx[i]), 1/math.Sqrt(wy[i])
		cov[4*i], cov[4*i+3] = 1/wx[i], 1/wy[i]
	}
	in, xs, ys := inputs("a", "b"), ad.Input("x", 10), ad.Input("y", 10)
	line := ad.Add(in[0], ad.Mul(in[1], xs))
	want := []float64{5.47991022, -0.480533407}
	_, r := orthogonal(t, optim.ErrorsInX{Responses: []optim.Response{{Model: line, Y: y, Sigma: sy}}, Params: in, Variables: []optim.Variable{{Node: xs, Values: x, Sigma: sx}}}, []float64{5, -0.5}, optim.Settings{})
	near(t, "line", r.X, want, 1e-8)
	_, same := orthogonal(t, optim.ErrorsInX{Responses: []optim.Response{{Model: ad.Sub(line, ys)}}, Params: in, Variables: []optim.Variable{{Node: xs, Values: x}, {Node: ys, Values: y}}, Cov: cov}, []float64{5, -0.5}, optim.Settings{})
	near(t, "implicit line", same.X, want, 1e-8)
	near(t, "sd", same.SD(), r.SD(), 1e-7)
}

// The residuals of the parameters alone have the derivatives that they claim, bounds hold, and losses forgive outliers in x.
func TestErrorsInXDerivatives(t *testing.T) {
	const n = 40
	random := tensor.NewStream(4, 0, 0)
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		at := float64(i) / 8
		x[i], y[i] = at+0.1*random.Normal(), 3*math.Exp(-at/1.5)+0.5+0.05*random.Normal()
	}
	in, xs := inputs("a", "tau", "c"), ad.Input("x", n)
	f := ad.Add(ad.Mul(in[0], ad.Exp(ad.Neg(ad.Div(xs, in[1])))), in[2])
	d := optim.ErrorsInX{Responses: []optim.Response{{Model: f, Y: y, Sigma: []float64{0.05}}}, Params: in, Variables: []optim.Variable{{Node: xs, Values: x, Sigma: []float64{0.1}}}}
	o, r := orthogonal(t, d, []float64{2, 1, 0}, optim.Settings{})
	for k, want := range []float64{3, 1.5, 0.5} {
		if math.Abs(r.X[k]-want) > 4*r.SD()[k] {
			t.Errorf("%s is %g +- %g, want %g", r.Names[k], r.X[k], r.SD()[k], want)
		}
	}
	j, up, down := make([]float64, n*3), make([]float64, n), make([]float64, n)
	at := []float64{2.9, 1.4, 0.45}
	if err := o.Jacobian(j, at); err != nil {
		t.Fatal(err)
	}
	for k := range at {
		for s, to := range [][]float64{up, down} {
			moved := append([]float64{}, at...)
			moved[k] += 1e-5 * float64(1-2*s)
			if err := o.Residual(to, moved); err != nil {
				t.Fatal(err)
			}
		}
		for i := range n {
			if got := (up[i] - down[i]) / 2e-5; math.Abs(got-j[k*n+i]) > 1e-5*(1+math.Abs(got)) {
				t.Errorf("residual %d by %s: %g, want %g", i, r.Names[k], j[k*n+i], got)
			}
		}
	}
	x[7] += 2
	d.Variables[0].Values = x
	_, plain := orthogonal(t, d, []float64{2, 1, 0}, optim.Settings{})
	_, robust := orthogonal(t, d, []float64{2, 1, 0}, optim.Settings{Loss: optim.Cauchy})
	if math.Abs(robust.X[1]-r.X[1]) > 0.3*math.Abs(plain.X[1]-r.X[1]) {
		t.Errorf("tau is %g with an outlier, %g robustly and %g without it", plain.X[1], robust.X[1], r.X[1])
	}
	o, err := optim.FromErrorsInX(d)
	if err != nil {
		t.Fatal(err)
	}
	o.Start, o.Upper = []float64{2, 1, 0}, []float64{math.Inf(1), math.Inf(1), 0.3}
	if held, err := optim.LeastSquares(context.Background(), o.Problem, optim.Settings{}); err != nil || held.Active[2] != 1 {
		t.Errorf("%v %v", held, err)
	}
	d.Variables[0].Sigma = []float64{1, 2}
	if _, err := optim.FromErrorsInX(d); err == nil {
		t.Error("two errors for forty points were taken")
	}
}
