// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// decays is the model of one correlation function, and data sets for it.
func decays(t testing.TB, n, sets int) (*infer.Posterior, []infer.DataSet) {
	x, yerr := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], yerr[i] = 0.01*math.Pow(1000, float64(i)/float64(n-1)), 0.003
	}
	src := tensor.NewStream(1, 77, 0)
	var all []infer.DataSet
	for k := range sets {
		y := make([]float64, n)
		tau, c := 0.3*math.Pow(10, float64(k%10)/9), 0.1+0.02*float64(k%7)
		for i := range y {
			y[i] = 1 + c*math.Exp(-2*x[i]/tau) + yerr[i]*src.Normal()
		}
		all = append(all, infer.DataSet{Data: map[string][]float64{"y": y}})
	}
	m := infer.NewModel("decay")
	lag := m.Data("x", x)
	tau := m.Param("tau", dist.LogNormal(0, 2))
	base := m.Param("baseline", dist.Normal(1, 0.1))
	contrast := m.Param("contrast", dist.HalfNormal(1))
	mean := ad.Add(base, ad.Mul(contrast, ad.Exp(ad.Div(ad.Scale(-2, lag), tau))))
	m.Observe("y", dist.Normal(mean, m.Data("yerr", yerr)), all[0].Data["y"])
	return compiled(t, m), all
}

// Chains in lock step make the trees of chains alone, draw by draw, from the same
// start and step; from a far start rounding grows and they part.
func TestSampleEachAsAlone(t *testing.T) {
	post, sets := decays(t, 30, 40)
	cfg := infer.Settings{Chains: 2, Warmup: 300, Draws: 100, Seed: 5}
	near := infer.Settings{Chains: 2, NoWarmup: true, Draws: 100, Seed: 5, StepSize: 0.5}
	fits, ready := make([]*infer.Fit, len(sets)), make([]infer.DataSet, len(sets))
	collect := func(i int, fit *infer.Fit, err error) {
		if fits[i] = fit; err != nil || fit == nil {
			t.Errorf("set %d: %v", i, err)
		}
	}
	if err := post.SampleEach(context.Background(), sets, cfg, collect); err != nil {
		t.Fatal(err)
	}
	first := slices.Clone(fits)
	metric, _ := fits[0].Adapted(0)
	near.StartMetric = &metric
	for i, fit := range fits {
		ready[i] = infer.DataSet{Data: sets[i].Data, Init: [][]float64{fit.Unconstrained(0, 99), fit.Unconstrained(1, 99)}}
	}
	if err := post.SampleEach(context.Background(), ready, near, collect); err != nil {
		t.Fatal(err)
	}
	for i, set := range ready {
		alone := post.Clone().(*infer.Posterior)
		if err := alone.SetData("y", set.Data["y"]); err != nil {
			t.Fatal(err)
		}
		c := near
		c.Seed, c.Init = c.Seed+uint64(i), set.Init
		want := sampled(t, alone, c)
		for chain := range 2 {
			for k, s := range want.Stats(chain) {
				if got := fits[i].Stats(chain)[k]; got.Steps != s.Steps || got.Index != s.Index {
					t.Fatalf("set %d chain %d draw %d: %d steps to %d, want %d to %d", i, chain, k, got.Steps, got.Index, s.Steps, s.Index)
				}
			}
			for k, v := range want.Draws("tau")[chain] {
				if got := fits[i].Draws("tau")[chain][k]; math.Abs(got/v-1) > 1e-9 {
					t.Fatalf("set %d chain %d draw %d: tau %.12g, want %.12g", i, chain, k, got, v)
				}
			}
		}
	}
	fits = first
	// Bit for bit the same in other company and on another number of threads.
	again := map[int]*infer.Fit{}
	cfg.Parallel = 1
	swapped := append([]infer.DataSet{sets[0]}, sets[20:25]...)
	if err := post.SampleEach(context.Background(), swapped, cfg, func(i int, fit *infer.Fit, _ error) { again[i] = fit }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again[0].Draws("tau")[1], fits[0].Draws("tau")[1]) {
		t.Error("draws depend on the other sets")
	}
	ll, err := fits[7].LogLik("y")
	if err != nil || len(ll[1]) != 100 {
		t.Errorf("log-likelihood of a set: %v", err)
	}
}

// Chains of a set adapt together: the warm-up ends when the metric has settled, and means are those of chains in a run of their own.
func TestSampleEachAdaptsTogether(t *testing.T) {
	post, sets := decays(t, 20, 4)
	err := post.SampleEach(t.Context(), sets, infer.Settings{Chains: 3, Seed: 8}, func(i int, fit *infer.Fit, err error) {
		if err != nil {
			t.Fatal(err)
		}
		alone := post.Clone().(*infer.Posterior)
		if err := alone.SetData("y", sets[i].Data["y"]); err != nil {
			t.Fatal(err)
		}
		want := sampled(t, alone, infer.Settings{Chains: 3, Seed: 8 + uint64(i), Coordinates: infer.DeclaredCoordinates})
		if n := fit.WarmupDraws(); n > 400 {
			t.Errorf("set %d: a warm-up of %d draws, that of a run alone has %d", i, n, want.WarmupDraws())
		}
		for _, name := range []string{"tau", "baseline", "contrast"} {
			got, mean := fit.Summary().Row(name), want.Summary().Row(name)
			if d := math.Abs(got.Mean-mean.Mean) / math.Hypot(got.MCSEMean, mean.MCSEMean); d > 5 {
				t.Errorf("set %d: mean of %s is %g, %g in a run alone, %.1f errors away", i, name, got.Mean, mean.Mean, d)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A bad set fails alone, whether its chains adapt together or not; an ended context keeps what is complete.
func TestSampleEachErrors(t *testing.T) {
	for _, warmup := range []int{50, 200} {
		sampleEachErrors(t, warmup)
	}
}

func sampleEachErrors(t *testing.T, warmup int) {
	post, sets := decays(t, 20, 6)
	sets[2].Data = map[string][]float64{"y": {1, 2}}
	sets[3].Data = map[string][]float64{"z": {1, 2}}
	sets[4].Data = map[string][]float64{"y": append(slices.Clone(sets[4].Data["y"][:19]), math.NaN())}
	errs := make([]error, 6)
	fits := 0
	err := post.SampleEach(context.Background(), sets, infer.Settings{Chains: 1, Warmup: warmup, Draws: 10}, func(i int, fit *infer.Fit, err error) {
		if errs[i] = err; fit != nil {
			fits++
		}
	})
	if err != nil || fits != 3 {
		t.Errorf("%d fits, error %v", fits, err)
	}
	for i, word := range []string{"", "", "2 values: want 20", "lacks y", "y[19] is NaN", ""} {
		if (errs[i] == nil) != (word == "") || errs[i] != nil && !strings.Contains(errs[i].Error(), word) {
			t.Errorf("set %d: %v, want %q", i, errs[i], word)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	err = post.SampleEach(ctx, sets[:2], infer.Settings{Chains: 1, Warmup: warmup, Draws: 1e7, Parallel: 1}, func(int, *infer.Fit, error) {
		t.Error("a set was not complete")
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an ended context: error %v", err)
	}
	sink := infer.Sink{Write: func(infer.SinkDraw) error { return nil }}
	if err := post.SampleEach(context.Background(), sets, infer.Settings{Sink: sink}, func(int, *infer.Fit, error) {}); err == nil {
		t.Error("Sink: no error")
	}
	if err := post.SampleEach(context.Background(), sets, infer.Settings{Resume: "x"}, func(int, *infer.Fit, error) {}); err == nil {
		t.Error("Resume: no error")
	}
	if err := post.SampleEach(context.Background(), []infer.DataSet{{Data: map[string][]float64{"q": nil}}}, infer.Settings{}, func(int, *infer.Fit, error) {}); err == nil || !strings.Contains(err.Error(), "no data") {
		t.Errorf("unknown data: %v", err)
	}
}

// BenchmarkSampleEach compares 1000 small posteriors in lock step with the same
// ones alone, on one core.
func BenchmarkSampleEach(b *testing.B) {
	post, sets := decays(b, 60, 1000)
	cfg := infer.Settings{Chains: 4, Parallel: 1}
	ess := func(f *infer.Fit) float64 { return f.Summary().MinESS() }
	b.Run("together", func(b *testing.B) {
		seconds, sum := 0.0, 0.0
		for b.Loop() {
			var fits []*infer.Fit
			from := time.Now()
			if err := post.SampleEach(b.Context(), sets, cfg, func(i int, f *infer.Fit, _ error) {
				if i < 50 { // the others are dropped, as those alone are
					fits = append(fits, f)
				}
			}); err != nil {
				b.Fatal(err)
			}
			seconds += time.Since(from).Seconds()
			for _, f := range fits {
				sum += ess(f) * 20
			}
		}
		b.ReportMetric(sum/seconds, "ESS/s")
		b.ReportMetric(seconds*1e3/float64(b.N*len(sets)), "ms/posterior")
	})
	b.Run("alone", func(b *testing.B) {
		seconds, sum := 0.0, 0.0
		for b.Loop() {
			for i, set := range sets[:50] {
				if err := post.SetData("y", set.Data["y"]); err != nil {
					b.Fatal(err)
				}
				c := cfg
				c.Seed = uint64(i)
				from := time.Now()
				fit := sampled(b, post, c)
				seconds += time.Since(from).Seconds()
				sum += ess(fit)
			}
		}
		b.ReportMetric(sum/seconds, "ESS/s")
		b.ReportMetric(seconds*1e3/float64(b.N*50), "ms/posterior")
	})
}

// Many parameters and other methods than trees give the draws of chains alone.
func TestSampleEachKinds(t *testing.T) {
	const n = 12
	src := tensor.NewStream(3, 1, 0)
	var sets []infer.DataSet
	for range 5 {
		y := make([]float64, n)
		for i := range y {
			y[i] = float64(i) + src.Normal()
		}
		sets = append(sets, infer.DataSet{Data: map[string][]float64{"y": y}, Init: [][]float64{y}})
	}
	m := infer.NewModel("many")
	mu := m.Param("mu", dist.Normal(0, 10), infer.Shape(n))
	m.Observe("y", dist.StudentT(4, mu, 1), sets[0].Data["y"])
	many := compiled(t, m)
	few, decay := decays(t, 20, 5)
	for i := range decay {
		decay[i].Init = [][]float64{{0, 1, math.Log(0.2)}}
	}
	tree := infer.Settings{Chains: 1, NoWarmup: true, Draws: 50, StepSize: 0.4, Seed: 2}
	fixed := tree
	fixed.Method, fixed.StepSize = infer.HMC, 0.01
	for _, c := range []struct {
		name string
		post *infer.Posterior
		sets []infer.DataSet
		cfg  infer.Settings
	}{{"many parameters", many, sets, tree}, {"HMC", few, decay, fixed}} {
		err := c.post.SampleEach(context.Background(), c.sets, c.cfg, func(i int, fit *infer.Fit, err error) {
			if err != nil {
				t.Fatalf("%s: set %d: %v", c.name, i, err)
			}
			alone := c.post.Clone().(*infer.Posterior)
			if err := alone.SetData("y", c.sets[i].Data["y"]); err != nil {
				t.Fatal(err)
			}
			cfg := c.cfg
			cfg.Seed, cfg.Init = cfg.Seed+uint64(i), c.sets[i].Init
			want := sampled(t, alone, cfg)
			for k := range 50 {
				for j, v := range want.Unconstrained(0, k) {
					if got := fit.Unconstrained(0, k)[j]; math.Abs(got-v) > 1e-9*math.Max(1, math.Abs(v)) {
						t.Fatalf("%s: set %d draw %d: parameter %d is %.12g, want %.12g", c.name, i, k, j, got, v)
					}
				}
			}
		})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A lane in which the model fails or panics ends or turns back alone; the others
// draw bit by bit what they draw without it.
func TestSampleEachFaults(t *testing.T) {
	m := infer.NewModel("faulty")
	r := m.Param("r", dist.Normal(0, 1))
	scale := m.Data("scale", []float64{1})
	moody := &ad.Custom{Name: "moody",
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) { return in[0], nil },
		Forward: func(out []float64, in ...[]float64) error {
			if in[0][0] > 500 {
				panic("a mood")
			}
			copy(out, in[0])
			return nil
		}}
	mood := ad.Call(moody, ad.Mul(scale, ad.Tanh(r)))
	corr := ad.Add(ad.Eye(2), ad.Mul(r, ad.Const([]float64{0, 1, 1, 0}, 2, 2)))
	m.AddLogProb("determinant", ad.CholeskyLogDet(ad.Cholesky(corr))) // where |r| < 1
	m.AddLogProb("moody", ad.Scale(0, ad.Sum(ad.StopGradient(mood))))
	m.Observe("y", dist.Normal(r, 1), []float64{0.1})
	post := compiled(t, m)
	set := func(y, scale float64) infer.DataSet {
		return infer.DataSet{Data: map[string][]float64{"y": {y}, "scale": {scale}}, Init: [][]float64{{0}}}
	}
	good := []infer.DataSet{set(0.1, 1), set(0.2, 1), set(-0.3, 1)}
	run := func(sets []infer.DataSet) (fits []*infer.Fit, errs []error) {
		fits, errs = make([]*infer.Fit, len(sets)), make([]error, len(sets))
		if err := post.SampleEach(context.Background(), sets, infer.Settings{Chains: 1, Warmup: 100, Draws: 100, Seed: 4}, func(i int, fit *infer.Fit, err error) {
			fits[i], errs[i] = fit, err
		}); err != nil {
			t.Fatal(err)
		}
		return fits, errs
	}
	want, _ := run(good)
	got, errs := run(append(slices.Clone(good), set(0, 900), set(0, 5000)))
	for i := range good {
		if errs[i] != nil || !slices.Equal(got[i].Draws("r")[0], want[i].Draws("r")[0]) {
			t.Errorf("set %d: draws depend on a faulty set (%v)", i, errs[i])
		}
		for _, v := range got[i].Draws("r")[0] {
			if math.Abs(v) >= 1 {
				t.Errorf("set %d: a draw has no density: %g", i, v)
			}
		}
	}
	var panicked *infer.PanicError
	for _, i := range []int{3, 4} {
		if !errors.As(errs[i], &panicked) {
			t.Errorf("set %d: %v, want the panic", i, errs[i])
		}
	}
	if err := post.SampleEach(context.Background(), good, infer.Settings{}, nil); err == nil {
		t.Error("no function to give fits to: no error")
	}
}

// A place that the model turns down ends a trajectory as it does alone, and the
// lane goes on with its own data and metric.
func TestSampleEachRejects(t *testing.T) {
	m := infer.NewModel("choosy")
	r := m.Param("r", dist.Normal(0, 1), infer.Shape(2))
	choosy := &ad.Custom{Name: "choosy",
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) { return in[0], nil },
		Forward: func(out []float64, in ...[]float64) error {
			if in[0][0] > 0.5 {
				return fmt.Errorf("at %g: %w", in[0][0], infer.ErrReject)
			}
			copy(out, in[0])
			return nil
		}}
	m.AddLogProb("choosy", ad.Scale(0, ad.Sum(ad.StopGradient(ad.Call(choosy, r)))))
	m.Observe("y", dist.Normal(r, 0.5), []float64{0.1, 0})
	post := compiled(t, m)
	diag, err := infer.DiagMetric([]float64{0.1, 0.4})
	if err != nil {
		t.Fatal(err)
	}
	for _, metric := range []*infer.Metric{nil, &diag} {
		cfg := infer.Settings{Chains: 1, NoWarmup: true, StepSize: 0.3, Draws: 60, Metric: infer.FixedMetric, StartMetric: metric}
		var sets []infer.DataSet
		for i := range 4 {
			sets = append(sets, infer.DataSet{Data: map[string][]float64{"y": {0.1 * float64(i), 0}}, Init: [][]float64{{0, 0}}})
		}
		divergent := 0
		err := post.SampleEach(context.Background(), sets, cfg, func(i int, fit *infer.Fit, err error) {
			if err != nil {
				t.Fatalf("set %d: %v", i, err)
			}
			alone, c := post.Clone().(*infer.Posterior), cfg
			if err := alone.SetData("y", sets[i].Data["y"]); err != nil {
				t.Fatal(err)
			}
			c.Seed, c.Init = uint64(i), sets[i].Init
			want := sampled(t, alone, c)
			divergent += want.Divergent()
			for k, d := range want.Divergences() {
				if got := fit.Divergences()[k]; got.Draw != d.Draw || !strings.Contains(got.Message, "at 0.") && !strings.Contains(got.Message, "at 1.") {
					t.Errorf("set %d: divergence at draw %d, %q, want %d, %q", i, got.Draw, got.Message, d.Draw, d.Message)
				}
			}
			for k := range cfg.Draws {
				if got, v := fit.Unconstrained(0, k), want.Unconstrained(0, k); math.Abs(got[0]-v[0]) > 1e-9 || math.Abs(got[1]-v[1]) > 1e-9 {
					t.Fatalf("set %d draw %d: %v, want %v", i, k, got, v)
				}
			}
		})
		if err != nil || divergent == 0 {
			t.Errorf("%d divergences, error %v", divergent, err)
		}
	}
}
