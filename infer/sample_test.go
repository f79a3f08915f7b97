// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/golden"
)

// correlated returns a normal target of 10 dimensions with its mean and
// covariance.
func correlated(t *testing.T) (Target, []float64, *mat.SymDense) {
	t.Helper()
	const n = 10
	cov := mat.NewSymDense(n, nil)
	mean := make([]float64, n)
	for i := range n {
		mean[i] = float64(i) - 3
		for j := range i + 1 {
			cov.SetSym(i, j, math.Pow(0.9, float64(i-j))*math.Pow(10, float64(i+j)/6-1.5))
		}
	}
	var inv mat.Dense
	if err := inv.Inverse(cov); err != nil {
		t.Fatal(err)
	}
	precision := make([][]float64, n)
	for i := range precision {
		precision[i] = mat.Row(nil, i, &inv)
	}
	return gauss(mean, precision), mean, cov
}

// Every metric and schedule must sample the same distribution. 20 numbers per
// run at 5 standard errors: a false alarm in about 1e5 runs.
func TestGaussianMoments(t *testing.T) {
	target, mean, cov := correlated(t)
	runs := map[string]Settings{
		"default": {}, "Fisher diagonal": {Metric: DiagFisher}, "dense": {Metric: DenseVariance},
		"Stan": StanSettings(), "Stan windows, low rank": {Schedule: StanSchedule},
		"no cross checks": {NoCrossChecks: true},
	}
	for name, cfg := range runs {
		cfg.Seed = 11
		fit := mustSample(t, target, cfg)
		for i, r := range fit.Summary().Rows {
			if z := (r.Mean - mean[i]) / r.MCSEMean; math.Abs(z) > 5 {
				t.Errorf("%s: mean %d is %g, want %g (%.1f standard errors)", name, i, r.Mean, mean[i], z)
			}
			if z := (r.SD - math.Sqrt(cov.At(i, i))) / r.MCSESD; math.Abs(z) > 5 {
				t.Errorf("%s: sd %d is %g, want %g (%.1f standard errors)", name, i, r.SD, math.Sqrt(cov.At(i, i)), z)
			}
		}
		if fit.Divergent() > 0 {
			t.Errorf("%s: %d divergences", name, fit.Divergent())
		}
	}
}

type posterior struct {
	Reference struct {
		Parameters map[string]struct {
			Mean, SD, Q05, Q50, Q95 float64
			MCSEMean                float64 `json:"mcse_mean"`
			MCSESD                  float64 `json:"mcse_sd"`
			MCSE05                  float64 `json:"mcse_q05"`
			MCSE50                  float64 `json:"mcse_q50"`
			MCSE95                  float64 `json:"mcse_q95"`
		}
	}
	Checks struct {
		Points []struct {
			Q    []float64 `json:"unconstrained"`
			LP   float64   `json:"lp_with_jacobian"`
			Grad []float64 `json:"grad_with_jacobian"`
		}
	} `json:"log_density_checks"`
}

func TestEightSchools(t *testing.T) {
	var want *posterior
	for _, c := range problems(t) {
		var data struct{ Data struct{ Y, Sigma []float64 } }
		if c.model == "eight_schools_noncentered" {
			golden.JSON(t, &data, c.file)
		}
		if slices.Equal(data.Data.Y, schoolsY[:]) && slices.Equal(data.Data.Sigma, schoolsSD[:]) {
			_, want = c.built(t, c.build)
		}
	}
	if want == nil {
		t.Skip("the reference does not have Rubin's eight schools")
	}
	for i, p := range want.Checks.Points {
		g := make([]float64, 10)
		lp, err := (&eightSchools{}).LogProbGrad(p.Q, g)
		if err != nil || math.Abs(lp-p.LP) > 1e-9*math.Abs(p.LP) {
			t.Errorf("point %d: log density %.15g, want %.15g", i, lp, p.LP)
		}
		for k := range g {
			if math.Abs(g[k]-p.Grad[k]) > 1e-9*math.Max(1, math.Abs(p.Grad[k])) {
				t.Errorf("point %d: gradient %d is %.15g, want %.15g", i, k, g[k], p.Grad[k])
			}
		}
	}
	fit := mustSample(t, &eightSchools{}, Settings{Draws: 2000, Seed: 1})
	worst := checkMoments(t, fit, want, 1.01)
	warm, sampling := fit.Gradients()
	t.Logf("largest deviation %.1f standard errors, %d divergences, %d + %d gradients, least ESS per gradient %.4f",
		worst, fit.Divergent(), warm, sampling, fit.Summary().MinESS()/float64(warm+sampling))
}

// bits returns everything a fit must reproduce.
func bits(f *Fit) string {
	var w checkpoint.Encoder
	for c := range f.chains {
		w.Int(f.Len(c))
		for d := range f.Len(c) {
			w.Floats(f.Row(c, d))
			w.Floats(f.Unconstrained(c, d))
		}
		w.String(fmt.Sprint(f.Stats(c), f.WarmupStats(c)))
		for _, d := range f.chains[c].divergences {
			d.save(&w)
		}
		w.Int(f.chains[c].tr.Count)
		w.Float(f.chains[c].ad.StepSize)
		f.chains[c].ad.Metric.Save(&w)
	}
	return string(w.Encoded())
}

func TestDrawsDoNotDependOnThreads(t *testing.T) {
	cfg := Settings{Warmup: 150, Draws: 100, Seed: 5, KeepWarmup: true}
	want := bits(mustSample(t, &eightSchools{}, cfg))
	for _, procs := range []int{1, 2} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		for parallel := range 4 {
			cfg.Parallel = parallel + 1
			if bits(mustSample(t, &eightSchools{}, cfg)) != want {
				t.Errorf("%d threads, %d chains at once: other draws", procs, parallel+1)
			}
		}
	}
	cfg.Seed = 6
	if bits(mustSample(t, &eightSchools{}, cfg)) == want {
		t.Error("another seed gives the same draws")
	}
}

func TestChainsRunApart(t *testing.T) {
	cfg := Settings{Warmup: 100, Draws: 50, Seed: 5}
	whole := mustSample(t, &eightSchools{}, cfg)
	cfg.FirstChain, cfg.Chains = 2, 2
	part := mustSample(t, &eightSchools{}, cfg)
	for c := range 2 {
		for d := range 50 {
			if !slices.Equal(part.Row(c, d), whole.Row(c+2, d)) {
				t.Fatalf("chain %d, draw %d differs when run apart", c+2, d)
			}
		}
	}
}

func TestReuseOfAdaptation(t *testing.T) {
	first := mustSample(t, &eightSchools{}, Settings{Seed: 1, Chains: 2})
	m, eps := first.Adapted(0)
	fit := mustSample(t, &eightSchools{}, Settings{Seed: 2, Chains: 2, NoWarmup: true, StartMetric: &m, StepSize: eps, InitRadius: 0.5})
	warm, _ := fit.Gradients()
	if _, again := fit.Adapted(1); again != eps || warm > 10 || fit.Len(0) != 1000 {
		t.Errorf("step %g, want %g; %d gradients before sampling; %d draws", again, eps, warm, fit.Len(0))
	}
	if r := fit.Summary().Row("mu"); math.Abs(r.Mean-4.41) > 5*r.MCSEMean {
		t.Errorf("mean of mu is %g +- %g", r.Mean, r.MCSEMean)
	}
}

func TestFitAccess(t *testing.T) {
	fit := mustSample(t, &eightSchools{}, Settings{Warmup: 100, Draws: 30, Chains: 2, KeepWarmup: true})
	for _, name := range StatNames() {
		s := fit.Stat(name)
		if len(s) != 2 || len(s[1]) != 30 {
			t.Errorf("statistic %s has the wrong size", name)
		}
	}
	if fit.Stat("speed") != nil || fit.Draws("speed") != nil {
		t.Error("an unknown name gave something")
	}
	tau := fit.Draws("tau")
	if got, want := tau[1][7], math.Exp(fit.Unconstrained(1, 7)[9]); got != want {
		t.Errorf("tau is %g, want %g", got, want)
	}
	if len(fit.WarmupColumn(0)[1]) != 100 || len(fit.WarmupStats(0)) != 100 {
		t.Error("the warm-up was not kept")
	}
	if e := fit.EBFMI(); len(e) != 2 || !(e[0] > 0.3) {
		t.Errorf("E-BFMI is %v", e)
	}
	for c, timing := range fit.Timing() {
		if timing.Warmup <= 0 || timing.Sampling <= 0 {
			t.Errorf("chain %d took %v", c, timing)
		}
	}
}
