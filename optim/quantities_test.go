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

// A quantity that is a parameter in other units has that parameter's error and profile, also where another follows from a tie.
func TestQuantities(t *testing.T) {
	p, _ := saturation(t)
	s := optim.Settings{RelativeSigma: true}
	r, err := optim.LeastSquares(context.Background(), p, s)
	if err != nil {
		t.Fatal(err)
	}
	v, k := ad.Input("v"), ad.Input("k")
	of := map[string]*ad.Node{"kilo": ad.Scale(1000, k), "slope": ad.Div(v, k)}
	q, err := r.Derive(of)
	if err != nil {
		t.Fatal(err)
	}
	// var(v/k) = (v/k)^2 (var v/v^2 + var k/k^2 - 2 cov/(v k))
	x, c := r.X, r.Cov
	slope := x[0] / x[1]
	sd := slope * math.Sqrt(c[0]/x[0]/x[0]+c[3]/x[1]/x[1]-2*c[1]/x[0]/x[1])
	if math.Abs(q.SD()[0]/(1000*r.SD()[1])-1) > 1e-12 || math.Abs(q.X[1]-slope) > 1e-9 || math.Abs(q.SD()[1]/sd-1) > 1e-9 {
		t.Errorf("%v +- %v", q.X, q.SD())
	}
	ivs, err := optim.Profile(context.Background(), p, r, optim.ProfileSettings{Settings: s, Names: []string{"k", "kilo", "slope"}, Quantities: of})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := ivs[0], ivs[1]; math.Abs(b.Lower/a.Lower/1000-1) > 1e-6 || math.Abs(b.Upper/a.Upper/1000-1) > 1e-6 {
		t.Errorf("k %g..%g, kilo %g..%g", a.Lower, a.Upper, b.Lower, b.Upper)
	}
	// The same model in terms of the slope, v = slope k.
	xs := []float64{.02, .02, .06, .06, .11, .11, .22, .22, .56, .56, 1.1, 1.1}
	y := []float64{76, 47, 97, 107, 123, 139, 159, 152, 191, 201, 207, 200}
	in := inputs("slope", "k")
	other, err := optim.FromModel(ad.Div(ad.Mul(ad.Mul(in[0], in[1]), ad.Const(xs)), ad.Add(in[1], ad.Const(xs))), in, optim.Observed{Y: y})
	if err != nil {
		t.Fatal(err)
	}
	other.Start = []float64{3000, 0.06}
	r2, err := optim.LeastSquares(context.Background(), other, s)
	if err != nil {
		t.Fatal(err)
	}
	want, err := optim.Profile(context.Background(), other, r2, optim.ProfileSettings{Settings: s, Names: []string{"slope"}})
	if err != nil || math.Abs(ivs[2].Lower/want[0].Lower-1) > 1e-5 || math.Abs(ivs[2].Upper/want[0].Upper-1) > 1e-5 {
		t.Errorf("slope %g..%g, want %g..%g: %v", ivs[2].Lower, ivs[2].Upper, want[0].Lower, want[0].Upper, err)
	}
	for name, e := range map[string]*ad.Node{"v": v, "of": ad.Input("w"), "two": ad.Const([]float64{1, 2})} {
		if _, err := r.Derive(map[string]*ad.Node{name: e}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// A limit of one side with 95 % is the end of the interval of 90 %.
func TestOneSidedLimits(t *testing.T) {
	p, _ := saturation(t)
	r, err := optim.LeastSquares(context.Background(), p, optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	one, err := optim.Profile(context.Background(), p, r, optim.ProfileSettings{OneSided: true})
	if err != nil {
		t.Fatal(err)
	}
	two, err := optim.Profile(context.Background(), p, r, optim.ProfileSettings{Level: 0.9})
	if err != nil || one[0].Upper != two[0].Upper || one[1].Lower != two[1].Lower {
		t.Errorf("%v %v %v", one, two, err)
	}
}

// Contours of a line are the ellipses of the covariance, where -2 log(1 - level) are the quantiles of chi-square with two degrees of freedom; those of a
// saturating curve have the least cost that a scan finds.
func TestContours(t *testing.T) {
	x := []float64{0, 1, 2, 3, 4}
	in := inputs("a", "b")
	p, err := optim.FromModel(ad.Add(in[0], ad.Mul(in[1], ad.Const(x))), in, optim.Observed{Y: []float64{1, 3.2, 4.9, 7.1, 9}, Sigma: []float64{.1, .2, .1, .2, .1}})
	if err != nil {
		t.Fatal(err)
	}
	p.Start = []float64{1, 1}
	r, err := optim.LeastSquares(context.Background(), p, optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := optim.Contours(context.Background(), p, r, "a", "b", optim.ContourSettings{Points: 12})
	if err != nil || len(all) != 3 {
		t.Fatal(err)
	}
	c := r.Cov
	det := c[0]*c[3] - c[1]*c[1]
	for l, want := range []float64{1, -2 * math.Log(1-0.6827), 5.991464547107979} {
		for k := range all[l].X {
			da, db := all[l].X[k]-r.X[0], all[l].Y[k]-r.X[1]
			if d := (c[3]*da*da - 2*c[1]*da*db + c[0]*db*db) / det; math.Abs(d/want-1) > 1e-4 || all[l].Open[k] {
				t.Errorf("level %g, point %d: chi-square rises by %g, want %g", all[l].Level, k, d, want)
			}
		}
	}
	if _, err := optim.Contours(context.Background(), p, r, "a", "a", optim.ContourSettings{}); err == nil {
		t.Error("a contour of a and a")
	}
}

// Where a contour of a line meets bounds it ends with the ellipse, also if the fit lies at a bound, in a corner of two or close to one.
func TestContoursAtBounds(t *testing.T) {
	x, y, sigma, in := []float64{0, 1, 2, 3, 4}, []float64{1, 3.2, 4.9, 7.1, 9}, []float64{.1, .2, .1, .2, .1}, inputs("a", "b")
	p, err := optim.FromModel(ad.Add(in[0], ad.Mul(in[1], ad.Const(x))), in, optim.Observed{Y: y, Sigma: sigma})
	if err != nil {
		t.Fatal(err)
	}
	inf := math.Inf(1)
	free := []float64{0.9987394957983189, 1.9987394957983193}
	for name, lower := range map[string][]float64{
		"far": {-inf, -inf}, "near": {free[0] - 0.01, -inf}, "very near": {free[0] - 1e-6, -inf}, "first": {1.03, -inf}, "second": {-inf, 2.01}, "corner": {1.03, 2.01}, "acute": {1.06, 1.99},
	} {
		p.Start, p.Lower, p.Upper = []float64{1.1, 2.1}, lower, []float64{inf, inf}
		r, err := optim.LeastSquares(context.Background(), p, optim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		all, err := optim.Contours(context.Background(), p, r, "a", "b", optim.ContourSettings{Points: 24, Levels: []float64{0.3935, 0.95}})
		if err != nil {
			t.Fatal(name, err)
		}
		rise := func(a, b float64) float64 {
			c, out := []float64{a - r.X[0], b - r.X[1]}, 0.0
			for i, xi := range x {
				z, d := (y[i]-r.X[0]-r.X[1]*xi)/sigma[i], (c[0]+c[1]*xi)/sigma[i]
				out += d*d - 2*d*z
			}
			return out
		}
		for _, c := range all {
			want, area := -2*math.Log(1-c.Level), 0.0
			for k := range c.X {
				j := (k + 1) % len(c.X)
				area += (c.X[k]*c.Y[j] - c.X[j]*c.Y[k]) / 2
				if d := rise(c.X[k], c.Y[k]); c.X[k] < lower[0]-1e-9 || c.Y[k] < lower[1]-1e-9 || !c.Open[k] && math.Abs(d/want-1) > 1e-4 || d > want*(1+1e-4) {
					t.Errorf("%s, level %g: chi-square rises by %g at %g, %g", name, c.Level, d, c.X[k], c.Y[k])
				}
			}
			const n = 400
			cells := 0
			for i := range n {
				for j := range n {
					a, b := r.X[0]-0.4+0.8*(float64(i)+0.5)/n, r.X[1]-0.2+0.4*(float64(j)+0.5)/n
					if a >= lower[0] && b >= lower[1] && rise(a, b) <= want {
						cells++
					}
				}
			}
			if want := float64(cells) * 0.8 * 0.4 / n / n; math.Abs(area/want-1) > 0.03 {
				t.Errorf("%s, level %g: the contour has the area %.4g, the region %.4g", name, c.Level, area, want)
			}
		}
	}
}

// Resampled fits scatter as the errors say where these are right, and do not depend on the number of threads.
func TestBootstrap(t *testing.T) {
	const n = 60
	x, y, sigma := make([]float64, n), make([]float64, n), make([]float64, n)
	random := tensor.NewStream(5, 0, 0)
	for i := range x {
		x[i], sigma[i] = float64(i)/10, 0.1
		y[i] = 3*math.Exp(-x[i]/2) + sigma[i]*random.Normal()
	}
	in := inputs("a", "tau")
	model := ad.Mul(in[0], ad.Exp(ad.Neg(ad.Div(ad.Const(x), in[1]))))
	d := optim.Observed{Y: y, Sigma: sigma}
	p, err := optim.FromModel(model, in, d)
	if err != nil {
		t.Fatal(err)
	}
	p.Start = []float64{1, 1}
	r, err := optim.LeastSquares(context.Background(), p, optim.Settings{RelativeSigma: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []optim.Resampling{optim.ResampleCases, optim.ResampleResiduals} {
		s := optim.BootstrapSettings{Resampling: kind, Draws: 800, Seed: 1}
		b, err := optim.Bootstrap(context.Background(), model, in, d, r, s)
		if err != nil {
			t.Fatal(err)
		}
		s.Threads = 1
		same, err := optim.Bootstrap(context.Background(), model, in, d, r, s)
		if err != nil {
			t.Fatal(err)
		}
		for k, sd := range r.SD() {
			// The standard deviation of 800 draws is known to 2.5 %, and cases of 60 points scatter by another 10 %.
			if math.Abs(b.SD[k]/sd-1) > 0.25 || math.Abs((b.Upper[k]-b.Lower[k])/(3.92*sd)-1) > 0.25 || same.SD[k] != b.SD[k] || b.Failed > 0 {
				t.Errorf("%s: %s is %g, %g to %g, want about %g", kind, b.Names[k], b.SD[k], b.Lower[k], b.Upper[k], sd)
			}
		}
		sd, lo, hi := b.Quantity(func(x []float64) float64 { return 2 * x[1] }, 0.95)
		if math.Abs(sd-2*b.SD[1]) > 1e-12 || math.Abs(lo-2*b.Lower[1]) > 1e-12 || math.Abs(hi-2*b.Upper[1]) > 1e-12 {
			t.Error(sd, lo, hi)
		}
	}
	if _, err := optim.Bootstrap(context.Background(), model, in, d, r, optim.BootstrapSettings{Resampling: "rows"}); err == nil {
		t.Error("rows were resampled")
	}
}
