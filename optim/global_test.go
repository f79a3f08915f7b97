// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// Sets of decays with one rate and amplitudes and backgrounds of their own.
func globalDecays(t testing.TB, sets int) *optim.Problem {
	t.Helper()
	rng := tensor.NewStream(21, 0, 0)
	p := inputs("rate", "amplitude", "background")
	var data []optim.DataSet
	for k := range sets {
		m := 10 + 3*k
		x, y := make([]float64, m), make([]float64, m)
		for i := range x {
			x[i] = 3 * float64(i) / float64(m)
			y[i] = float64(k) + (1+float64(k)/2)*math.Exp(-1.5*x[i]) + 0.01*rng.Normal()
		}
		model := ad.Add(p[2], ad.Mul(p[1], ad.Exp(ad.Neg(ad.Mul(p[0], ad.Const(x))))))
		data = append(data, optim.DataSet{Name: fmt.Sprint("set", k), Residual: ad.Scale(100, ad.Sub(model, ad.Const(y)))})
	}
	g, err := optim.GlobalFit(data, p, "rate")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGlobalFit(t *testing.T) {
	for _, sets := range []int{1, 3, 30} { // 61 parameters need lanes
		p := globalDecays(t, sets)
		if p.N != 1+2*sets {
			t.Fatalf("%d parameters for %d sets", p.N, sets)
		}
		if err := p.SetStart(map[string]float64{"rate": 1, "amplitude": 1, "background.set0": 0.5}); err != nil {
			t.Fatal(err)
		}
		if err := p.Bound("amplitude", 0, 100); err != nil {
			t.Fatal(err)
		}
		r, err := optim.LeastSquares(context.Background(), p, optim.Settings{})
		if err != nil || !r.Status.Converged() {
			t.Fatal(err, r)
		}
		sd := r.SD()
		if math.Abs(r.Value("rate")-1.5) > 5*sd[0] || r.ReducedChiSquared() < 0.5 || r.ReducedChiSquared() > 1.6 {
			t.Errorf("%d sets: rate %g +- %g, reduced chi-square %g", sets, r.Value("rate"), sd[0], r.ReducedChiSquared())
		}
		for k := range sets {
			if got := r.Value(fmt.Sprintf("background.set%d", k)); math.Abs(got-float64(k)) > 0.05 {
				t.Errorf("background of set %d is %g", k, got)
			}
		}
	}
	p := inputs("a")
	set := optim.DataSet{Name: "one", Residual: ad.Mul(p[0], ad.Const([]float64{1, 2}))}
	for want, f := range map[string]func() error{
		`did you mean "a"`: func() error { _, err := optim.GlobalFit([]optim.DataSet{set}, p, "aa"); return err },
		"no data sets":     func() error { _, err := optim.GlobalFit(nil, p); return err },
		"name of its own":  func() error { _, err := optim.GlobalFit([]optim.DataSet{set, set}, p); return err },
		`no parameter "b`:  func() error { return globalDecays(t, 1).Bound("b", 0, 1) },
		`no parameter "z`:  func() error { return globalDecays(t, 1).SetStart(map[string]float64{"z": 1}) },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A frequency has many minima; among enough starts one finds the right one.
func TestMultiStart(t *testing.T) {
	x, y := make([]float64, 60), make([]float64, 60)
	rng := tensor.NewStream(4, 0, 0)
	for i := range x {
		x[i] = float64(i) / 10
		y[i] = 1.3*math.Sin(4.2*x[i]+0.5) + 0.05*rng.Normal()
	}
	p := inputs("a", "w", "phase")
	model := ad.Mul(p[0], ad.Sin(ad.Add(ad.Mul(p[1], ad.Const(x)), p[2])))
	prob, err := optim.FromModel(model, p, optim.Observed{Y: y})
	if err != nil {
		t.Fatal(err)
	}
	prob.Lower, prob.Upper = []float64{0, 0.5, -math.Pi}, []float64{5, 10, math.Pi}
	prob.Start = []float64{1, 1, 0}
	alone, err := optim.LeastSquares(context.Background(), prob, optim.Settings{})
	if err != nil || math.Abs(alone.X[1]-4.2) < 0.1 {
		t.Fatalf("the start alone finds %v: the test tests nothing (%v)", alone, err)
	}
	for _, sampler := range []optim.Sampler{optim.LatinHypercube, optim.Sobol} {
		var first []optim.Found
		for _, threads := range []int{1, 3} {
			found, err := optim.MultiStart(context.Background(), prob.Clone(), optim.MultiSettings{Starts: 32, Seed: 5, Sampler: sampler, Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			best := found[0]
			if math.Abs(best.X[1]-4.2) > 0.02 || math.Abs(best.X[0]-1.3) > 0.05 || len(found) < 3 {
				t.Errorf("%q: %v of %d minima", sampler, best.X, len(found))
			}
			hits := 0
			for k, f := range found {
				hits += f.Hits
				if k > 0 && f.Cost < found[k-1].Cost*(1-1e-9) {
					t.Errorf("%q: cost %g after %g", sampler, f.Cost, found[k-1].Cost)
				}
			}
			if hits != 33 {
				t.Errorf("%q: %d hits of 33 starts", sampler, hits)
			}
			if threads == 1 {
				first = found
			} else if !reflect.DeepEqual(first[0].X, best.X) || len(first) != len(found) {
				t.Errorf("%q: 3 threads find %v, one %v", sampler, best.X, first[0].X)
			}
		}
	}
	prob.Lower = nil
	if _, err := optim.MultiStart(context.Background(), prob, optim.MultiSettings{}); err == nil || !strings.Contains(err.Error(), "set Lower and Upper") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	prob.Lower = []float64{0, 0.5, -4}
	if _, err := optim.MultiStart(ctx, prob, optim.MultiSettings{}); err == nil {
		t.Error("cancelled, no error")
	}
}
