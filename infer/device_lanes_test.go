// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/gpu"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// regression is a linear regression of many coefficients.
func regression(t testing.TB, d, rows int) *infer.Model {
	t.Helper()
	m := infer.NewModel("regression")
	x, y := make([]float64, rows*d), make([]float64, rows)
	for i := range rows {
		for k := range d {
			x[i*d+k] = math.Cos(float64(1+i*(k+3)) * 1.7)
			y[i] += x[i*d+k] * float64(k%5-2) / 4
		}
		y[i] += 0.3 * math.Sin(float64(7*i*i))
	}
	beta := m.Param("beta", dist.Normal(0, 1), infer.Shape(d))
	sigma := m.Param("sigma", dist.HalfNormal(1))
	m.Observe("y", dist.Normal(ad.Reshape(ad.MatMul(m.Data("x", x, infer.Shape(rows, d)), ad.Reshape(beta, d, 1)), rows), sigma), y)
	return m
}

func onDevice(t testing.TB, m *infer.Model, b ad.Backend) *infer.Posterior {
	t.Helper()
	post, err := m.CompileOn(b)
	if err != nil {
		t.Fatal(err)
	}
	return post
}

// sameMoments compares two fits within five standard errors.
func sameMoments(t *testing.T, name string, got, want *infer.Fit) {
	t.Helper()
	w := want.Summary()
	worst := 0.0
	for _, g := range got.Summary().Rows {
		r := w.Row(g.Name)
		z := math.Abs(g.Mean-r.Mean) / math.Hypot(g.MCSEMean, r.MCSEMean)
		s := math.Abs(g.SD-r.SD) / math.Hypot(g.MCSESD, r.MCSESD)
		worst = max(worst, z, s)
		if z > 5 || s > 5 {
			t.Errorf("%s: %s is %.4g with deviation %.3g, want %.4g and %.3g (%.1f and %.1f standard errors)", name, g.Name, g.Mean, g.SD, r.Mean, r.SD, z, s)
		}
	}
	t.Logf("%s: within %.1f standard errors", name, worst)
}

// Chains of ChEES on a device are those of the processor: trajectories do not leave the device, on two devices the same
// draws, and the same bits in every run.
func TestChEESOnDevice(t *testing.T) {
	pretend.Shared(t)
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	schools := infer.NewModel("schools")
	hierarchy(schools, infer.NonCentred())
	cfg := infer.ChEESSettings{Seed: 2, Chains: 24, Warmup: 120, Draws: 60}
	want, err := infer.ChEES(context.Background(), compiled(t, schools), cfg)
	if err != nil {
		t.Fatal(err)
	}
	post := onDevice(t, schools, ad.CUDA{Strict: true})
	d.ResetPeak()
	got, err := infer.ChEES(context.Background(), post, cfg)
	if err != nil {
		t.Fatal(err)
	}
	traffic := d.Stats()
	sameMoments(t, "eight schools", got, want)
	warm, kept := got.Gradients()
	leapfrogs := float64(warm + kept)
	// What a program of densities alone would move each time: places in, gradients and densities out.
	perLeapfrog, naive := float64(traffic.Sent+traffic.Fetched)/leapfrogs, float64(8*(2*post.Dim()+1))
	if d := float64(post.Dim()); float64(traffic.Sent+traffic.Fetched) > 24*180*8*(4*d+25) { // places, momenta and gradients once a draw, however long it was
		t.Error("more crosses the bus than the ends of trajectories")
	}
	t.Logf("%d bytes sent and %d fetched in %d copies for %.0f leapfrogs of a chain: %.1f bytes each, %.1f %% of places and gradients", traffic.Sent, traffic.Fetched, traffic.Copies, leapfrogs, perLeapfrog, 100*perLeapfrog/naive)
	again, err := infer.ChEES(context.Background(), post, cfg)
	if err != nil || fmt.Sprint(again.Draws("mu")) != fmt.Sprint(got.Draws("mu")) {
		t.Errorf("other draws in another run: %v", err)
	}
	two, err := infer.ChEES(context.Background(), onDevice(t, schools, ad.Several{{Device: 0}, {Device: 1}}), cfg)
	if err != nil {
		t.Fatal(err)
	}
	sameMoments(t, "eight schools on two devices", two, want)
}

// Densities and gradients of models on a device are the processor's; chains of NUTS in lanes there, also on two devices and
// of more parameters than whole leapfrogs are computed for, agree with it; so do many data sets.
func TestSampleInLanesOnDevice(t *testing.T) {
	pretend.Shared(t)
	schools := infer.NewModel("schools")
	schools.Observe("y", dist.Normal(ad.Add(schools.Param("mu", dist.Normal(0, 5)), schools.Data("x", []float64{0.1, -0.2, 0.3})), schools.Param("tau", dist.HalfNormal(5))), []float64{1, 2.5, 0.5})
	for _, m := range []*infer.Model{schools, regression(t, 9, 20)} {
		here := onDevice(t, m, ad.CPU{Threads: 1})
		there := onDevice(t, m, ad.Several{{Device: 0}, {Device: 1}})
		q, g, h := make([]float64, here.Dim()), make([]float64, here.Dim()), make([]float64, here.Dim())
		for i := range q {
			q[i] = 0.5 * math.Sin(float64(3*i+1))
		}
		want, err := here.LogProbGrad(q, g)
		if err != nil {
			t.Fatal(err)
		}
		got, err := there.LogProbGrad(q, h)
		if err != nil || math.Abs(got-want) > 1e-10*math.Abs(want) {
			t.Errorf("log density %v, want %v: %v", got, want, err)
		}
		for i := range g {
			if math.Abs(h[i]-g[i]) > 1e-10*max(1, math.Abs(g[i])) {
				t.Errorf("slope %d is %v, want %v", i, h[i], g[i])
			}
		}
		cfg := infer.Settings{Seed: 3, Chains: 16, Warmup: 60, Draws: 30}
		from, err := infer.Sample(context.Background(), here, cfg)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := infer.Sample(context.Background(), there, cfg)
		if err != nil {
			t.Fatal(err)
		}
		sameMoments(t, "NUTS in lanes", fit, from)
	}
}

// The evidence that points in lanes on a device give, also on two, is that of the processor to rounding, and so are the first draws.
func TestSMCOnDevice(t *testing.T) {
	pretend.Shared(t)
	schools := infer.NewModel("schools")
	hierarchy(schools, infer.NonCentred())
	flat := infer.NewModel("flat") // without priors
	flat.Observe("y", dist.Normal(flat.Flat("mu", dist.IdentityTransform()), flat.Flat("sigma", dist.LowerTransform(0))), []float64{1, 2, 4, 2.5, 0.5})
	for _, m := range []*infer.Model{schools, flat} {
		cfg := infer.Settings{Method: infer.SMC, Seed: 3, Draws: 40}
		var want *infer.Fit
		for _, b := range []ad.Backend{ad.CPU{Threads: 1}, ad.CUDA{Strict: true}, ad.Several{{Device: 0}, {Device: 1}}} {
			got, err := infer.Sample(context.Background(), onDevice(t, m, b), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
				continue
			}
			if g, w := got.Evidence(), want.Evidence(); math.Abs(g.Log-w.Log) > 1e-6 || g.Levels != w.Levels {
				t.Errorf("%v: want %v", g, w)
			}
			for i, row := range want.Column(0) {
				for k, w := range row {
					if g := got.Column(0)[i][k]; math.Abs(g-w) > 1e-6*max(1, math.Abs(w)) {
						t.Fatalf("draw %d of chain %d is %v on the device, %v on the processor", k, i, g, w)
					}
				}
			}
		}
	}
}

// TestGPUSpeedChEES measures 256 chains of ChEES on a GPU, of eight schools and of a regression of 100 coefficients;
// scripts/gpu.sh starts it.
func TestGPUSpeedChEES(t *testing.T) {
	all := gpu.Need(t)
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	schools := infer.NewModel("schools")
	hierarchy(schools, infer.NonCentred())
	for name, m := range map[string]*infer.Model{"eight schools": schools, "regression": regression(t, 100, 1000)} {
		post := onDevice(t, m, ad.CUDA{})
		d.ResetPeak()
		fit, err := infer.ChEES(context.Background(), post, infer.ChEESSettings{Seed: 1, Chains: 256})
		if err != nil {
			t.Fatal(err)
		}
		warm, kept := fit.Gradients()
		st := d.Stats()
		t.Logf("%s, %s: %v for %d leapfrogs of a chain, %.1f million a second, ESS %.0f; %.1f MB sent, %.1f MB fetched", all[0].Name, name, fit.Elapsed, warm+kept,
			float64(warm+kept)/fit.Elapsed.Seconds()/1e6, fit.Summary().MinESS(), float64(st.Sent)/1e6, float64(st.Fetched)/1e6)
	}
}
