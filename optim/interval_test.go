// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// saturation is v x/(k + x), the Michaelis-Menten distribution, with data of Bates &
// Watts, Nonlinear Regression Analysis (1988), appendix A1.3 (puromycin, treated).
func saturation(t testing.TB) (*optim.Problem, []*ad.Node) {
	t.Helper()
	x := []float64{.02, .02, .06, .06, .11, .11, .22, .22, .56, .56, 1.1, 1.1}
	y := []float64{76, 47, 97, 107, 123, 139, 159, 152, 191, 201, 207, 200}
	p := inputs("v", "k")
	prob, err := optim.FromModel(ad.Div(ad.Mul(p[0], ad.Const(x)), ad.Add(p[1], ad.Const(x))), p, optim.Observed{Y: y})
	if err != nil {
		t.Fatal(err)
	}
	prob.Start = []float64{200, 0.1}
	return prob, p
}

// The known fit and the profile intervals that R's confint.nls gives for it,
// 197.30212848 .. 229.29006490 and 0.04692517 .. 0.08615995; R interpolates the
// profile by a spline, so that the last digits are those of the scan below.
func TestProfileIntervals(t *testing.T) {
	p, _ := saturation(t)
	s := optim.Settings{RelativeSigma: true}
	r, err := optim.LeastSquares(context.Background(), p, s)
	if err != nil || math.Abs(r.X[0]-212.6836) > 1e-3 || math.Abs(r.X[1]-0.0641212) > 1e-6 || math.Abs(math.Sqrt(r.ReducedChiSquared())-10.93366) > 1e-4 {
		t.Fatal(err, r)
	}
	ivs, err := optim.Profile(context.Background(), p, r, optim.ProfileSettings{Settings: s})
	if err != nil || len(ivs) != 2 {
		t.Fatal(err)
	}
	width := distuv.StudentsT{Sigma: 1, Nu: 10}.Quantile(0.975)
	for i, iv := range ivs {
		for _, end := range []float64{iv.Lower, iv.Upper} {
			// Best cost with the parameter held, by a scan of the other.
			if rise := 2 * (heldCost(p, i, end) - r.Cost) / r.ReducedChiSquared(); math.Abs(math.Sqrt(rise)/width-1) > 1e-5 {
				t.Errorf("%s at %g: tau %g, want %g", iv.Name, end, math.Sqrt(rise), width)
			}
		}
		if iv.LowerOpen || iv.UpperOpen || len(iv.Points) < 5 || iv.Lower >= iv.Value || iv.Upper <= iv.Value {
			t.Errorf("%+v", iv)
		}
		for k := range iv.Points[1:] {
			if iv.Points[k+1].Tau < iv.Points[k].Tau {
				t.Errorf("%s: tau falls from %g to %g", iv.Name, iv.Points[k].Tau, iv.Points[k+1].Tau)
			}
		}
	}
	if math.Abs(ivs[0].Lower-197.302) > 0.01 || math.Abs(ivs[0].Upper-229.290) > 0.01 || math.Abs(ivs[1].Lower-0.0469252) > 1e-5 || math.Abs(ivs[1].Upper-0.0861600) > 1e-5 {
		t.Errorf("v %g .. %g, k %g .. %g", ivs[0].Lower, ivs[0].Upper, ivs[1].Lower, ivs[1].Upper)
	}
}

// heldCost minimises over the other parameter of saturation by golden sections.
func heldCost(p *optim.Problem, i int, value float64) float64 {
	r := make([]float64, p.M)
	cost := func(other float64) float64 {
		x := []float64{value, other}
		if i == 1 {
			x = []float64{other, value}
		}
		if err := p.Residual(r, x); err != nil {
			panic(err)
		}
		s := 0.0
		for _, v := range r {
			s += v * v / 2
		}
		return s
	}
	lo, hi := 0.01, 0.3
	if i == 1 {
		lo, hi = 100, 400
	}
	g := (math.Sqrt(5) - 1) / 2
	for range 120 {
		a, b := hi-g*(hi-lo), lo+g*(hi-lo)
		if cost(a) < cost(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return cost((lo + hi) / 2)
}

// In a linear model the profile is the customary interval; a bound leaves one
// side open, a parameter that the data do not determine both.
func TestProfileOfLinearModel(t *testing.T) {
	x, y := []float64{0, 1, 2, 3, 4}, []float64{1.1, 2.9, 5.2, 7.1, 8.8}
	p := inputs("a", "b", "c")
	make3 := func(c *ad.Node) *optim.Problem {
		prob, err := optim.FromModel(ad.Add(p[0], ad.Mul(ad.Add(p[1], c), ad.Const(x))), p, optim.Observed{Y: y, Sigma: repeat(0.2, 5)})
		if err != nil {
			t.Fatal(err)
		}
		prob.Start = []float64{0, 0, 0}
		return prob
	}
	prob := make3(ad.Scalar(0))
	s := optim.Settings{Fixed: map[string]float64{"c": 0}}
	r, err := optim.LeastSquares(context.Background(), prob, s)
	if err != nil {
		t.Fatal(err)
	}
	ivs, err := optim.Profile(context.Background(), prob, r, optim.ProfileSettings{Settings: s, Level: 0.9})
	if err != nil || len(ivs) != 2 {
		t.Fatal(err)
	}
	for i, iv := range ivs {
		half := distuv.UnitNormal.Quantile(0.95) * r.SD()[i]
		if math.Abs(iv.Lower-r.X[i]+half) > 1e-6*half || math.Abs(iv.Upper-r.X[i]-half) > 1e-6*half {
			t.Errorf("%s: %g .. %g, want %g +- %g", iv.Name, iv.Lower, iv.Upper, r.X[i], half)
		}
	}
	prob.Upper = []float64{10, r.X[1] + 0.01, 10}
	if ivs, err = optim.Profile(context.Background(), prob, r, optim.ProfileSettings{Settings: s, Names: []string{"b"}}); err != nil || !ivs[0].UpperOpen || ivs[0].Upper != r.X[1]+0.01 || ivs[0].LowerOpen {
		t.Errorf("%v %+v", err, ivs[0])
	}
	free := make3(p[2]) // b + c alone is determined
	if r, err = optim.LeastSquares(context.Background(), free, optim.Settings{}); err != nil {
		t.Fatal(err)
	}
	if ivs, err = optim.Profile(context.Background(), free, r, optim.ProfileSettings{Names: []string{"b"}}); err != nil || !ivs[0].UpperOpen || !ivs[0].LowerOpen || !math.IsInf(ivs[0].Upper, 1) {
		t.Errorf("%v %+v", err, ivs)
	}
	// Around a point that is not the minimum it says so.
	prob.Upper = nil
	prob.Start = []float64{0, 0, 0}
	if r, err = optim.LeastSquares(context.Background(), prob, s); err != nil {
		t.Fatal(err)
	}
	r.Cost += 10
	if _, err = optim.Profile(context.Background(), prob, r, optim.ProfileSettings{Settings: s}); err == nil || !strings.Contains(err.Error(), "fit again from") {
		t.Error(err)
	}
	for want, bad := range map[string]optim.ProfileSettings{`no parameter "d"`: {Names: []string{"d"}}, "between 0 and 1": {Level: 2}} {
		if _, err = optim.Profile(context.Background(), prob, r, bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Bands must hold the truth as often as they say: at a place, everywhere, and for
// new data.
func TestConfidenceBands(t *testing.T) {
	const m, trials = 25, 600
	rng := tensor.NewStream(31, 0, 0)
	x := make([]float64, m)
	for i := range x {
		x[i] = float64(i) / 8
	}
	p := inputs("b", "c", "r")
	model := ad.Add(p[0], ad.Mul(p[1], ad.Exp(ad.Neg(ad.Mul(p[2], ad.Const(x))))))
	truth := func(v float64) float64 { return 1 + 2*math.Exp(-1.2*v) }
	y := ad.Input("y", m)
	prob, err := optim.FromGraph(ad.Sub(model, y), p, optim.Data{Node: y, Values: x})
	if err != nil {
		t.Fatal(err)
	}
	prob.Start = []float64{1, 2, 1.2}
	grid := ad.Const([]float64{0, .5, 1, 2, 4})
	at := []float64{0, .5, 1, 2, 4}
	f := ad.Add(p[0], ad.Mul(p[1], ad.Exp(ad.Neg(ad.Mul(p[2], grid)))))
	const place = 2
	pointwise, everywhere, next := 0, 0, 0
	for range trials {
		data := make([]float64, m)
		for i, v := range x {
			data[i] = truth(v) + 0.05*rng.Normal()
		}
		if err := prob.SetData(data); err != nil {
			t.Fatal(err)
		}
		r, err := optim.LeastSquares(context.Background(), prob, optim.Settings{RelativeSigma: true})
		if err != nil {
			t.Fatal(err)
		}
		band := func(s optim.BandSettings) *optim.Band {
			b, err := optim.ConfidenceBand(f, p, r, s)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		in := func(b *optim.Band, i int, v float64) bool { return b.Lower[i] <= v && v <= b.Upper[i] }
		if in(band(optim.BandSettings{}), place, truth(at[place])) {
			pointwise++
		}
		if in(band(optim.BandSettings{Sigma: []float64{1}}), place, truth(at[place])+0.05*rng.Normal()) {
			next++
		}
		all, ok := band(optim.BandSettings{Simultaneous: true}), true
		for i, v := range at {
			ok = ok && in(all, i, truth(v))
		}
		if ok {
			everywhere++
		}
	}
	// 95 % of 600 is 570 +- 5.3; Scheffé's bound is wider than five places need.
	if math.Abs(float64(pointwise)-570) > 22 || math.Abs(float64(next)-570) > 22 || everywhere < 560 {
		t.Errorf("of %d: %d at a place, %d of new data, %d everywhere", trials, pointwise, next, everywhere)
	}
}

func TestBandMistakes(t *testing.T) {
	prob, p := saturation(t)
	r, err := optim.LeastSquares(context.Background(), prob, optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]func() error{
		`no parameter "z"`: func() error {
			z := inputs("z")
			_, err := optim.ConfidenceBand(z[0], z, r, optim.BandSettings{})
			return err
		},
		"between 0 and 1": func() error { _, err := optim.ConfidenceBand(p[0], p, r, optim.BandSettings{Level: -1}); return err },
		"Sigma has 2": func() error {
			_, err := optim.ConfidenceBand(p[0], p, r, optim.BandSettings{Sigma: []float64{1, 2}})
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Near a bound the intervals are those of Feldman and Cousins (Phys. Rev. D 57, 3873, table X: a measurement x0 of a mean of at least 0, in units of its standard deviation).
func TestIntervalsNearABoundAreThoseOfFeldmanAndCousins(t *testing.T) {
	for _, c := range []struct{ level, x, lower, upper float64 }{
		{0.6827, -1, 0, 0.27}, {0.6827, 0, 0, 1}, {0.6827, 0.5, 0.02, 1.5}, {0.6827, 1, 0.24, 2}, {0.6827, 3, 2, 4},
		{0.95, -1, 0, 1.10}, {0.95, 0, 0, 1.96}, {0.95, 1, 0, 2.96}, {0.95, 2, 0.35, 3.96},
	} {
		for _, sign := range []float64{1, -1} { // a lower bound, and an upper one
			p := &optim.Problem{M: 1, N: 1, Names: []string{"m"}, Start: []float64{0}, Residual: func(r, b []float64) error { r[0] = b[0] - sign*c.x; return nil }}
			if p.Lower = []float64{0}; sign < 0 {
				p.Lower, p.Upper = nil, []float64{0}
			}
			r, err := optim.LeastSquares(context.Background(), p, optim.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			all, err := optim.Profile(context.Background(), p, r, optim.ProfileSettings{Level: c.level})
			if err != nil {
				t.Fatal(err)
			}
			lower, upper := all[0].Lower, all[0].Upper
			if sign < 0 {
				lower, upper = -upper, -lower
			}
			if math.Abs(lower-c.lower) > 0.0051 || math.Abs(upper-c.upper) > 0.0051 {
				t.Errorf("x %g, level %g: %.3f .. %.3f, want %.2f .. %.2f", sign*c.x, c.level, lower, upper, c.lower, c.upper)
			}
		}
	}
}
