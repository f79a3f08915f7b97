// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// centredSchools are the eight schools as people write them first, which chains can hardly sample.
func centredSchools(t *testing.T) *Posterior {
	t.Helper()
	m := NewModel("schools")
	mu := m.Param("mu", dist.Normal(0, 5))
	tau := m.Param("tau", dist.HalfCauchy(5))
	theta := m.Param("theta", dist.Normal(mu, tau), Shape(8))
	sd := m.Data("sd", []float64{15, 10, 16, 11, 9, 11, 10, 18})
	m.Observe("y", dist.Normal(theta, sd), []float64{28, 8, -3, 7, -1, 1, 18, 12})
	return compiled(t, m)
}

// nested is a model of all that can be moved: locations that are functions of others, lognormal parameters, and a chain of scales.
func nested(t *testing.T) *Posterior {
	t.Helper()
	m := NewModel("nested")
	slope := m.Param("slope", dist.Normal(0, 1))
	spread := m.Param("spread", dist.Exponential(1))
	rates := m.Param("rates", dist.LogNormal(slope, spread), Shape(3))
	x := m.Data("x", []float64{-1, 0, 1})
	levels := m.Param("levels", dist.StudentT(4, ad.Mul(slope, x), ad.Mul(spread, rates)), Shape(3))
	m.Observe("y", dist.Normal(levels, 0.5), []float64{0.3, -0.2, 1.4})
	return compiled(t, m)
}

func compiled(t *testing.T, m *Model) *Posterior {
	t.Helper()
	p, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// uncentredSchools are the eight schools as those write them who know the neck.
func uncentredSchools(t *testing.T) *Posterior {
	t.Helper()
	m := NewModel("schools")
	mu := m.Param("mu", dist.Normal(0, 5))
	tau := m.Param("tau", dist.HalfCauchy(5))
	z := m.Param("z", dist.Normal(0, 1), Shape(8))
	sd := m.Data("sd", []float64{15, 10, 16, 11, 9, 11, 10, 18})
	m.Observe("y", dist.Normal(ad.Add(mu, ad.Mul(tau, z)), sd), []float64{28, 8, -3, 7, -1, 1, 18, 12})
	return compiled(t, m)
}

// process is a Gaussian process whose exponentials are the rates of counts.
func process(t *testing.T) *Posterior {
	t.Helper()
	m := NewModel("process")
	rho := m.Param("rho", dist.Gamma(25, 4))
	alpha := m.Param("alpha", dist.HalfNormal(2))
	z := m.Param("z", dist.Normal(0, 1), Shape(4))
	k := ad.Add(squaredExponential([]float64{-3, -1, 2, 4}, alpha, rho), ad.DiagMatrix(ad.Full(1e-8, 4)))
	m.Observe("y", dist.Poisson(ad.Exp(ad.MatMul(ad.Cholesky(k), z))), []float64{40, 30, 2, 1})
	return compiled(t, m)
}

// correlatedProcess is a Gaussian process of eight values whose covariance is unknown, written by its multivariate normal distribution, with observations of a function of its values.
func correlatedProcess(t *testing.T, observe func(m *Model, f, alpha *ad.Node)) *Posterior {
	t.Helper()
	m := NewModel("correlated process")
	rho := m.Param("rho", dist.Gamma(25, 10))
	alpha := m.Param("alpha", dist.HalfNormal(2))
	k := ad.Add(squaredExponential([]float64{-4, -3, -1, 0, 1, 2, 4, 5}, alpha, rho), ad.DiagMatrix(ad.Full(1e-2, 8)))
	observe(m, m.Param("f", dist.MultivariateNormal(ad.Mul(alpha, ad.Const([]float64{1, 0, 1, 0, 1, 0, 1, 0})), k), Shape(8)), alpha)
	return compiled(t, m)
}

// itself observes a process, scaled one of which a parameter is a factor, and mixed three sums of its values.
func itself(m *Model, f, _ *ad.Node) {
	m.Observe("y", dist.Normal(f, 0.5), []float64{1, 2, 0, -1, 1, 3, 2, 1})
}

func scaled(m *Model, f, alpha *ad.Node) {
	m.Observe("y", dist.Normal(ad.Add(alpha, ad.Mul(alpha, f)), 0.5), []float64{1, 2, 0, -1, 1, 3, 2, 1})
}

func mixed(m *Model, f, alpha *ad.Node) {
	a := ad.Const([]float64{1, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 3, 8)
	m.Observe("y", dist.Normal(ad.Add(alpha, ad.Mul(ad.Shift(alpha, 1), ad.MatMul(a, ad.Mul(alpha, f)))), 0.5), []float64{1, 2, 0})
}

func familyOf(t *testing.T, target Target) *family {
	t.Helper()
	f, err := coordinatesOf(target)
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	return f
}

// In all coordinates the log density is that of the parameters and the determinant, gradients are those of the log density, and the way
// there and back ends where it began.
func TestCoordinatesAreExact(t *testing.T) {
	for name, c := range map[string]struct {
		post              *Posterior
		located, positive int
	}{"centred schools": {centredSchools(t), 1, 1}, "schools": {uncentredSchools(t), 1, 1}, "nested": {nested(t), 2, 1}, "process": {process(t), 1, 2},
		"correlated": {correlatedProcess(t, itself), 1, 2}, "correlated and scaled": {correlatedProcess(t, scaled), 1, 2}, "correlated and mixed": {correlatedProcess(t, mixed), 1, 2}} {
		f, p := familyOf(t, c.post), c.post
		if len(f.Positive) != c.positive || len(f.located) != c.located {
			t.Fatalf("%s: %d positive and %d located parameters, want %d and %d", name, len(f.Positive), len(f.located), c.positive, c.located)
		}
		random := tensor.NewStream(3, 1, 2)
		for trial := range 20 {
			h := f.asDeclared()
			for i, l := range f.located {
				if size := l.informed(f.Inputs[l.Input].Size()); (trial+i)%4 > 0 {
					h.of[i] = information{make([]float64, size), make([]float64, size)}
					for k := range size {
						h.of[i].weight[k] = float64((trial + i + k) % 4)
						h.of[i].pull[k] = h.of[i].weight[k] * random.Normal()
					}
				}
			}
			h.k[0] = []float64{0, 0.3, 2}[trial%3]
			m, err := f.in(h)
			if err != nil {
				t.Fatal(err)
			}
			z, q, back, g, gz := make([]float64, p.Dim()), make([]float64, p.Dim()), make([]float64, p.Dim()), make([]float64, p.Dim()), make([]float64, p.Dim())
			for i := range z {
				z[i] = random.Normal()
			}
			logDet, err := m.Declared(z, q)
			if err != nil {
				t.Fatal(err)
			}
			want, err := p.LogProbGrad(q, g)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.LogProbGrad(z, gz)
			if err != nil || math.Abs(got-want-logDet) > 1e-10*(1+math.Abs(want)) {
				t.Errorf("%s %v: log density %v, want %v: %v", name, h, got, want+logDet, err)
			}
			if err := CheckGradient(m, z); err != nil {
				t.Errorf("%s %v: %v", name, h, err)
			}
			if err := m.coordinatesAt(q, back); err != nil {
				t.Fatal(err)
			}
			for i := range z {
				if math.Abs(back[i]-z[i]) > 1e-9*(1+math.Abs(z[i])) {
					t.Errorf("%s %v: coordinate %d is %v, and %v after the way there and back", name, h, i, z[i], back[i])
				}
			}
			checkDeterminant(t, m, z, logDet)
		}
	}
}

// Observations with a normal distribution tell exactly what they are, however few the draws are, and wherever these lie: with the coordinates of the
// centred and of the non-centred form the log density is that of independent standard normal distributions, and of the parents alone.
func TestInformationOfNormalObservations(t *testing.T) {
	for name, p := range map[string]*Posterior{"centred": centredSchools(t), "non-centred": uncentredSchools(t),
		"correlated": correlatedProcess(t, itself), "correlated and scaled": correlatedProcess(t, scaled), "correlated and mixed": correlatedProcess(t, mixed)} {
		f := familyOf(t, p)
		watch, err := f.newObserver()
		if err != nil {
			t.Fatal(err)
		}
		random, at := tensor.NewStream(8, 1, 2), watch.watcher()
		var draws []seenDraw
		for range 6 {
			d, ok := at.see(random.NormalTo(make([]float64, p.Dim())))
			if !ok {
				t.Fatal("a draw fails")
			}
			draws = append(draws, d)
		}
		h := f.asDeclared()
		h.of[0] = f.information(draws)[0]
		m, err := f.in(h)
		if err != nil {
			t.Fatal(err)
		}
		z, g := make([]float64, p.Dim()), make([]float64, p.Dim())
		for range 5 {
			random.NormalTo(z)
			if _, err := m.LogProbGrad(z, g); err != nil {
				t.Fatal(err)
			}
			for i := 2; i < 10; i++ { // after two others
				if math.Abs(g[i]+z[i]) > 1e-7 {
					t.Errorf("%s: the gradient along x[%d] = %v is %v", name, i-2, z[i], g[i])
				}
			}
		}
	}
}

// A use that the log density reads beside the parameter itself, or with another prior, says nothing about it.
func TestLinearUses(t *testing.T) {
	for name, c := range map[string]struct {
		build func(m *Model, z, s *ad.Node)
		prior dist.Dist
		want  int
	}{
		"scaled": {func(m *Model, z, s *ad.Node) { m.Observe("y", dist.Normal(ad.Mul(s, z), 1), []float64{1, 2}) }, dist.Normal(0, 1), 1},
		"once more": {func(m *Model, z, s *ad.Node) {
			m.AddLogProb("more", ad.Sum(ad.Cos(z)))
			m.Observe("y", dist.Normal(ad.Mul(s, z), 1), []float64{1, 2})
		}, dist.Normal(0, 1), 0},
		"by several ways": {func(m *Model, z, s *ad.Node) {
			eta := ad.Mul(s, z)
			for k := range 5 {
				m.AddLogProb(fmt.Sprint("way ", k), ad.Sum(ad.Cos(ad.Neg(ad.Add(s, ad.Scale(float64(k+2), ad.Sub(eta, s)))))))
			}
		}, dist.Normal(0, 1), 1},
		"not linear": {func(m *Model, z, s *ad.Node) {
			m.Observe("y", dist.Normal(ad.Mul(s, ad.Square(z)), 1), []float64{1, 2})
		}, dist.Normal(0, 1), 0},
		"logistic":  {func(m *Model, z, s *ad.Node) { m.Observe("y", dist.Normal(ad.Mul(s, z), 1), []float64{1, 2}) }, dist.Logistic(0, 1), 0},
		"wide":      {func(m *Model, z, s *ad.Node) { m.Observe("y", dist.Normal(ad.Mul(s, z), 1), []float64{1, 2}) }, dist.Normal(2, 3), 1},
		"no parent": {func(m *Model, z, s *ad.Node) { m.Observe("y", dist.Normal(ad.Scale(2, z), 1), []float64{1, 2}) }, dist.Normal(0, 1), 0},
	} {
		m := NewModel("uses")
		s := m.Param("s", dist.HalfNormal(1))
		c.build(m, m.Param("z", c.prior, Shape(2)), s)
		if f := familyOf(t, compiled(t, m)); len(f.located) != c.want {
			t.Errorf("%s: %d located parameters, want %d", name, len(f.located), c.want)
		}
	}
}

// checkDeterminant compares the logarithm of a determinant with that of differences.
func checkDeterminant(t *testing.T, m *moved, z []float64, want float64) {
	t.Helper()
	n := len(z)
	jac := make([][]float64, n)
	for i := range jac {
		const step = 1e-6
		up, down := make([]float64, n), make([]float64, n)
		at := slices.Clone(z)
		at[i] += step
		_, err1 := m.Declared(at, up)
		at[i] -= 2 * step
		_, err2 := m.Declared(at, down)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		jac[i] = make([]float64, n)
		for k := range up {
			jac[i][k] = (up[k] - down[k]) / (2 * step)
		}
	}
	logDet := 0.0
	for i := range jac { // elimination without a choice of pivots: the map is triangular
		logDet += math.Log(math.Abs(jac[i][i]))
		for k := i + 1; k < n; k++ {
			r := jac[k][i] / jac[i][i]
			for l := i; l < n; l++ {
				jac[k][l] -= r * jac[i][l]
			}
		}
	}
	if math.Abs(logDet-want) > 1e-6*(1+math.Abs(want)) {
		t.Errorf("%v: log determinant %v, by differences %v", m.of, want, logDet)
	}
}

// The neck of the centred schools is found out, and quantiles of tau are right: by quadrature they are 0.246, 1.262, 2.749, 4.991 and 9.841.
func TestChosenCoordinates(t *testing.T) {
	exact := map[float64]float64{0.05: 0.246, 0.25: 1.262, 0.5: 2.749, 0.75: 4.991, 0.95: 9.841}
	for seed := range 3 {
		fit, err := Sample(t.Context(), centredSchools(t), Settings{Seed: uint64(seed + 1)})
		if err != nil {
			t.Fatal(err)
		}
		if e := leastESS(fit); e < 0.09 {
			t.Errorf("seed %d: %.4f effective draws per gradient in the coordinates %v", seed, e, fit.Coordinates())
		}
		for _, d := range fit.Divergences() {
			if !d.Warmup {
				t.Errorf("seed %d: draw %d of chain %d diverges", seed, d.Draw, d.Chain)
			}
		}
		tau := fit.Draws("tau")
		all := slices.Sorted(slices.Values(slices.Concat(tau...)))
		for p, want := range exact {
			if got := all[int(p*float64(len(all)))]; math.Abs(got-want) > 5*diag.MCSEQuantile(tau, p) {
				t.Errorf("seed %d: quantile %g of tau is %.3f +- %.3f, want %.3f", seed, p, got, diag.MCSEQuantile(tau, p), want)
			}
		}
	}
}

// What is recorded of a draw is that of the parameters, whatever the coordinates.
func TestDrawsInDeclaredCoordinates(t *testing.T) {
	p := centredSchools(t)
	fit, err := Sample(t.Context(), p, Settings{Seed: 5, Chains: 2, Draws: 50})
	if err != nil || len(fit.Coordinates()) == 0 {
		t.Fatal(err, fit.Coordinates())
	}
	out, g := make([]float64, p.Len()), make([]float64, p.Dim())
	for i := range 50 {
		q := fit.Unconstrained(1, i)
		if err := p.Write(q, out); err != nil {
			t.Fatal(err)
		}
		if lp, err := p.LogProbGrad(q, g); err != nil || math.Abs(lp-fit.Stats(1)[i].LogProb) > 1e-9 {
			t.Errorf("draw %d: log density %v, recorded %v: %v", i, lp, fit.Stats(1)[i].LogProb, err)
		}
		for k, v := range out {
			if math.Abs(v-fit.Row(1, i)[k]) > 1e-12*(1+math.Abs(v)) {
				t.Errorf("draw %d: column %d is %v, recorded %v", i, k, v, fit.Row(1, i)[k])
			}
		}
	}
}

// Draws are the same bits with one thread and with several, and after a run was interrupted and resumed.
func TestChosenCoordinatesRepeat(t *testing.T) {
	s := Settings{Seed: 9, Draws: 200}
	run := func(change func(*Settings)) *Fit {
		t.Helper()
		c := s
		change(&c)
		fit, err := Sample(t.Context(), centredSchools(t), c)
		if err != nil {
			t.Fatal(err)
		}
		return fit
	}
	want := run(func(*Settings) {})
	same := func(name string, got *Fit) {
		t.Helper()
		for c := range got.Chains() {
			for i := range want.Len(c) {
				if !slices.Equal(got.Unconstrained(c, i), want.Unconstrained(c, i)) {
					t.Fatalf("%s: draw %d of chain %d differs", name, i, c)
				}
			}
		}
	}
	same("one thread", run(func(c *Settings) { c.Parallel = 1 }))
	path := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	s.Checkpoint.Path = path
	s.Sink.Write = func(d SinkDraw) error {
		if d.Draw == 50 && !d.Warmup {
			cancel()
			time.Sleep(100 * time.Millisecond) // until the chains have been told
		}
		return nil
	}
	if _, err := Sample(ctx, centredSchools(t), s); err == nil {
		t.Fatal("the run was not interrupted")
	}
	s.Sink, s.Checkpoint.Path = Sink{}, ""
	same("resumed", run(func(c *Settings) { c.Resume = path }))
}

// A fit in other coordinates is continued, followed by others and judged like any.
func TestChosenCoordinatesGoOn(t *testing.T) {
	p := centredSchools(t)
	s := Settings{Seed: 9, Draws: 100}
	fit, err := Sample(t.Context(), p, s)
	if err != nil {
		t.Fatal(err)
	}
	long := s
	long.Draws = 150
	want, err := Sample(t.Context(), p, long)
	if err != nil {
		t.Fatal(err)
	}
	more, err := fit.Continue(t.Context(), 50)
	if err != nil || !slices.Equal(more.Unconstrained(2, 149), want.Unconstrained(2, 149)) {
		t.Errorf("continued draws differ: %v", err)
	}
	next, err := Sample(t.Context(), p, Settings{From: fit, Draws: 50, Seed: 2})
	if err != nil || !slices.Equal(next.Coordinates(), fit.Coordinates()) || next.Len(0) != 50 {
		t.Errorf("a fit that starts from another: %v", err)
	}
	if v, err := fit.CheckModel(CheckSettings{}); err != nil || len(v.Flags) > 0 {
		t.Errorf("verdict %+v: %v", v, err)
	}
	if ll, err := fit.LogLik("y"); err != nil || len(ll) == 0 {
		t.Error(err)
	}
}

// A run that is interrupted before its chains begin returns a fit without draws, and can be made again.
func TestInterruptedBeforeChains(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "run")
	s := Settings{Seed: 3, Draws: 20, Checkpoint: Checkpoint{Path: path}}
	fit, err := Sample(ctx, centredSchools(t), s)
	if !errors.Is(err, context.Canceled) || fit == nil || fit.Len(0) != 0 {
		t.Errorf("%v: %v", fit, err)
	}
	if fit, err = Sample(t.Context(), centredSchools(t), s); err != nil || fit.Len(0) != 20 {
		t.Error(err)
	}
}

// With what normal observations tell of effects, their coordinates are standard normal whatever the other parameters are: the gradient along them is their opposite.
func TestCoordinatesOfNormalEffectsAreStandard(t *testing.T) {
	y, sd := []float64{28, 8, -3, 7, -1, 1, 18, 12}, []float64{15, 10, 16, 11, 9, 11, 10, 18}
	for name, p := range map[string]*Posterior{"centred": centredSchools(t), "standard": uncentredSchools(t)} {
		f, err := coordinatesOf(p)
		if err != nil || len(f.located) != 1 {
			t.Fatal(name, err)
		}
		h := f.asDeclared()
		h.of[0] = information{make([]float64, 8), make([]float64, 8)}
		for i, v := range y {
			h.of[0].weight[i], h.of[0].pull[i] = 1/(sd[i]*sd[i]), v/(sd[i]*sd[i])
		}
		m, err := f.in(h)
		if err != nil {
			t.Fatal(err)
		}
		z, g := somewhere(m.Dim(), 3), make([]float64, m.Dim())
		if _, err := m.LogProbGrad(z, g); err != nil {
			t.Fatal(err)
		}
		first := f.first[f.located[0].Input]
		for i := first; i < first+8; i++ {
			if math.Abs(g[i]+z[i]) > 1e-10 {
				t.Errorf("%s: the gradient along coordinate %d is %.12g at %.12g", name, i-first, g[i], z[i])
			}
		}
	}
}
