// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/tensor"
)

// moved is data of a model with noise.
func moved(tb testing.TB, s transport.Setup, truth []float64, noise float64) Data {
	tb.Helper()
	theta, err := s.Inputs()
	if err != nil {
		tb.Fatal(err)
	}
	n := len(s.Times)
	p, err := ad.Compile(s.Pairs(theta, transport.Square(n)), ad.Settings{Inputs: theta})
	if err != nil {
		tb.Fatal(err)
	}
	st := p.NewState()
	for i, v := range truth {
		st.Input(i)[0] = v
	}
	if err := st.Run(); err != nil {
		tb.Fatal(err)
	}
	d := Data{Setup: s}
	z := tensor.NewStream(3, 0, 0)
	for k := range s.Angles {
		c2, sigma := make([]float64, n*n), make([]float64, n*n)
		for i, g := range st.Output(k) {
			c2[i], sigma[i] = 1+0.2*g+noise*z.Normal(), noise
		}
		d.C2, d.Sigma = append(d.C2, c2), append(d.Sigma, sigma)
	}
	return d
}

func times(n int) (t []float64) {
	for i := range n {
		t = append(t, 0.1*(float64(i)+0.5))
	}
	return t
}

// A fit from 16 points finds the motion from a start that is far off, whatever the angle of the flow, and for two components with the
// slower one named first.
func TestSeveralStarts(t *testing.T) { severalStarts(t, 48, 0.005, -60, 0, 50) }

func severalStarts(t *testing.T, frames int, noise float64, angles ...float64) {
	flow := func(phi0 float64) []float64 { return []float64{4000, -0.2, 500, 2e-3, 0.2, 1e-4, phi0} }
	for _, c := range []struct {
		name  string
		model transport.Model
		truth []float64
		fixed []string
	}{
		{"along", transport.Laminar, flow(4), nil},
		{"across", transport.Laminar, flow(75), nil},
		{"slow", transport.Laminar, []float64{500, 0.1, 50, 2e-4, -0.1, 0, -40}, nil},
		{"static", transport.Static, []float64{20000, -0.5, 300}, nil},
		{"two", transport.TwoComponent, []float64{500, 0, 100, 8000, -0.2, 500, 900, 0.2, 50, 0.35, -0.05, 6, 0.1, 20}, []string{"f2"}},
	} {
		if !tier.Slow && (c.name == "along" || c.name == "slow") {
			continue // as across
		}
		s := transport.Setup{Model: c.model, Times: times(frames), Q: 0.0054, Gap: 2e6, Angles: angles}
		d := moved(t, s, c.truth, noise)
		got, err := FitLeastSquares(context.Background(), d, Settings{Starts: tier.Of(10, 16), Fixed: c.fixed, Threads: 2})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		start := slices.Clone(c.truth)
		if c.fixed != nil {
			start[11] = 0 // where f2 is held
			start[9] *= math.Exp(-c.truth[10] * c.truth[11])
		}
		want, err := FitLeastSquares(context.Background(), d, Settings{Start: start, Fixed: c.fixed})
		if err != nil {
			t.Fatal(err)
		}
		if !(got.SSQ <= want.SSQ+0.5) {
			t.Errorf("%s: %g at %.4g, want at most %g at %.4g", c.name, got.SSQ, got.Theta, want.SSQ, want.Theta)
		}
		for _, o := range got.Others {
			if o.SSQ < got.SSQ || o.SSQ > got.SSQ+10 {
				t.Errorf("%s: another minimum of %g beside %g", c.name, o.SSQ, got.SSQ)
			}
		}
		t.Logf("%s: %g, %d passes, others %v, warnings %q", c.name, got.SSQ, got.Passes, got.Others, got.Warnings)
	}
}

// A fit also begins from points that are given, such as the motion at another q, and takes the best minimum, with one start or several.
func TestStartsNear(t *testing.T) {
	truth := []float64{4000, -0.2, 500, 2e-3, 0.2, 1e-4, 14}
	d := moved(t, transport.Setup{Model: transport.Laminar, Times: times(32), Q: 0.0054, Gap: 2e6, Angles: []float64{-60, 0, 50, 90}}, truth, 0.01)
	far := []float64{4000, -0.2, 500, 3e-2, 0.5, 1e-2, 70}
	ssq := func(s Settings) float64 {
		f, err := FitLeastSquares(context.Background(), d, s)
		if err != nil {
			t.Fatal(err)
		}
		return f.SSQ
	}
	want := ssq(Settings{Start: truth})
	if alone := ssq(Settings{Start: far}); alone < want+10 {
		t.Fatalf("the far start comes to %g, as good as %g: choose one farther away", alone, want)
	}
	for _, starts := range []int{1, 2} {
		if got := ssq(Settings{Start: far, Near: [][]float64{truth}, Starts: starts}); got > want+0.5 {
			t.Errorf("%d starts: %g, want %g", starts, got, want)
		}
	}
}

// Starts are placed within bounds, a fit keeps to them, and nothing is searched where all parameters are fixed.
func TestStartsWithinBounds(t *testing.T) {
	s := transport.Setup{Model: transport.Laminar, Times: times(32), Q: 0.0054, Gap: 2e6, Angles: []float64{-60, 0, 50, 90}}
	truth := []float64{4000, -0.2, 500, 2e-3, 0.2, 1e-4, 14}
	d := moved(t, s, truth, 0.01)
	bounds := DefaultBounds(s.Model)
	fit, err := FitLeastSquares(context.Background(), d, Settings{Starts: 16, Bounds: bounds})
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range fit.Theta {
		if v < bounds[k][0] || v > bounds[k][1] {
			t.Errorf("%s is %g, want it within %v", s.Names()[k], v, bounds[k])
		}
	}
	again, err := FitLeastSquares(context.Background(), d, Settings{Starts: 16, Bounds: bounds, Threads: 3})
	if err != nil || !slices.Equal(again.X, fit.X) || !slices.Equal(again.Cov, fit.Cov) {
		t.Errorf("three threads find %v, one %v; %v", again.X, fit.X, err)
	}
	if text := strings.Join(fit.Warnings, "; "); fit.Theta[6] != 10 || !strings.Contains(text, "phi0 is at its bound of 10") {
		t.Errorf("phi0 %g, warnings %q", fit.Theta[6], text)
	}
	for _, starts := range []int{1, 16} {
		fit, err := FitLeastSquares(context.Background(), d, Settings{Starts: starts, Start: truth, Fixed: s.Names()})
		if err != nil || len(fit.X) != 8 || !slices.Equal(fit.Theta, truth) {
			t.Errorf("%d starts, all fixed: %v, %v", starts, fit, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := FitLeastSquares(ctx, d, Settings{Starts: 16}); err == nil {
		t.Error("no error of a context that has ended")
	}
}

// fitterOf prepares a fit for its sums of squares.
func fitterOf(t *testing.T, d Data, s Settings) *fitter {
	t.Helper()
	s.Scaling = Individual
	f := &fitter{s: s, ctx: context.Background()}
	if err := f.prepare(&d); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.sums, err = newSums(&d, 1, 64); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fitter) squares(t *testing.T, theta []float64) float64 {
	t.Helper()
	a, _, err := f.productsAt(theta)
	if err != nil {
		t.Fatal(err)
	}
	return a.At(a.SymmetricDim()-1, a.SymmetricDim()-1)
}

// The sum of squares does not depend on the order of the angles, on where angles are counted from, on half turns of the flow, nor on which of
// two components is called the reference.
func TestInvariances(t *testing.T) {
	for _, m := range []transport.Model{transport.Laminar, transport.TwoComponent} {
		d, theta := scatter(m, false, 80, true, false)
		s := Settings{Start: theta, Fixed: []string{"f2"}}
		if m == transport.Laminar {
			s.Fixed = nil
		}
		want := fitterOf(t, d, s).squares(t, theta)
		same := func(what string, d Data, theta []float64) {
			t.Helper()
			if got := fitterOf(t, d, s).squares(t, theta); !(math.Abs(got-want) <= 1e-12*want) {
				t.Errorf("%s, %s: %.15g, want %.15g", m, what, got, want)
			}
		}
		last := len(theta) - 1
		turned := d
		turned.Setup.Angles = []float64{d.Setup.Angles[1], d.Setup.Angles[0]}
		turned.C2, turned.Sigma = [][]float64{d.C2[1], d.C2[0]}, [][]float64{d.Sigma[1], d.Sigma[0]}
		same("other order", turned, theta)
		turned = d
		turned.Setup.Angles = []float64{d.Setup.Angles[0] + 33, d.Setup.Angles[1] + 33}
		with := func(k int, v float64) []float64 {
			out := slices.Clone(theta)
			out[k] = v
			return out
		}
		if m == transport.Laminar {
			same("other zero", turned, with(last, theta[last]+33))
		} else {
			same("other zero", turned, with(last, theta[last]-33))
			same("exchanged", d, exchanged(theta))
		}
		same("half a turn", d, with(last, theta[last]+180))
	}
}

// What cannot be fitted is refused, and directions that the data say nothing of are named.
func TestFaultsOfFits(t *testing.T) {
	d, theta := scatter(transport.TwoComponent, false, 40, false, false)
	refused := func(d Data, s Settings, words ...string) {
		t.Helper()
		_, err := FitLeastSquares(context.Background(), d, s)
		for _, w := range words {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%v, want an error with %q", err, w)
			}
		}
	}
	refused(d, Settings{Start: theta}, "f2 is free")
	one, flow := scatter(transport.Laminar, false, 40, false, false)
	one.Setup.Angles = []float64{10, -170}
	refused(one, Settings{Start: flow}, "phi0 is free, but with one angle")
	constant, still := scatter(transport.Static, false, 40, false, false)
	for i := range constant.C2[1] {
		constant.C2[1][i] = 1.1
	}
	refused(constant, Settings{Start: still}, "angle 1", "1.1 at all pairs")
	short, _ := scatter(transport.Static, false, 2, false, false)
	refused(short, Settings{Start: still}, "at least 3")
	early, _ := scatter(transport.Static, false, 40, false, false)
	early.Setup.Times[0] = 0
	refused(early, Settings{Start: []float64{1000, -1.2, 10}}, "alpha")
	refused(early, Settings{Start: still, Bounds: [][2]float64{{1e4, 1e5}, {-1, 1}, {0, 1e3}}}, "D0 starts at 3000")

	s := transport.Setup{Model: transport.Static, Times: times(50), Q: 0.0054, Angles: []float64{0}}
	level := moved(t, s, []float64{3000, 0, 500}, 0.02)
	fit, err := FitLeastSquares(context.Background(), level, Settings{Start: []float64{2000, 0, 500}, Fixed: []string{"alpha"}})
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(fit.Warnings, "; "); !strings.Contains(text, "D0") || !strings.Contains(text, "D_offset") || !fit.Directions[0].IsFlat() {
		t.Errorf("warnings %q, want one about D0 and D_offset; %v", text, fit.Directions[0])
	}
	bounded, err := FitLeastSquares(context.Background(), level, Settings{Start: []float64{1500, 0, 0}, Fixed: []string{"alpha", "D_offset"}, Bounds: [][2]float64{{1000, 2000}, {-1, 1}, {-1, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(bounded.Warnings, "; "); bounded.Theta[0] != 2000 || !strings.Contains(text, "D0 is at its bound of 2000") {
		t.Errorf("D0 %g, warnings %q", bounded.Theta[0], text)
	}
}

// Defaults are there for every parameter, and a start is within its bounds.
func TestTable(t *testing.T) {
	for _, m := range []transport.Model{transport.Static, transport.Laminar, transport.TwoComponent} {
		s := transport.Setup{Model: m, Times: times(10), Q: 0.01, Gap: 1e6, Angles: []float64{0}}
		start, bounds := DefaultStart(m), DefaultBounds(m)
		for k, p := range Parameters(m) {
			if p.Name != s.Names()[k] || start[k] < bounds[k][0] || start[k] > bounds[k][1] {
				t.Errorf("%s: %+v, start %g within %v", m, p, start[k], bounds[k])
			}
		}
		if err := s.Domain(start); err != nil {
			t.Errorf("%s: %v", m, err)
		}
	}
}

// Of minima that are as good as the best, the one with the least parameters is followed, and sums that are no numbers are left out.
func TestBestOfValley(t *testing.T) {
	d, theta := scatter(transport.Laminar, false, 40, true, false)
	f := fitterOf(t, d, Settings{Start: theta})
	valley := func(ssq, far float64) *solution {
		p := slices.Clone(theta)
		p[0], p[2] = p[0]+far, p[2]-far
		return &solution{theta: p, ssq: ssq}
	}
	found := f.bestOf([]*solution{valley(math.NaN(), 0), valley(100, 1e9), valley(100+2e-6, 0), valley(100+1e-6, 1e6)})
	if len(found) == 0 || found[0].theta[0] != theta[0] {
		t.Errorf("the minimum that is followed has the parameters %v, want %v", found, theta)
	}
}
