// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"io"
	"math"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/checkpoint"
)

// roundsOf runs the rounds of a warm-up until the meeting with a number, from a saved state if there is one, and returns the state then.
func roundsOf(t *testing.T, target Target, cfg Settings, saved []byte, until int) []byte {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg, err := cfg.withDefaults(target.Dim())
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPool(target, cfg, new(atomic.Bool))
	if err != nil {
		t.Fatal(err)
	}
	if saved != nil {
		if err := p.load(saved); err != nil {
			t.Fatal(err)
		}
	}
	if p.settled {
		return saved
	}
	_, err = p.run(ctx, func() {
		if saved = p.save(); p.round == until {
			cancel()
		}
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return saved
}

// Rounds are the same bits after an interruption at any meeting, and with any number of threads.
func TestRoundsRepeat(t *testing.T) {
	for name, target := range map[string]Target{"centred": centredSchools(t), "without graph": &eightSchools{}, "few interactions": ar1(60, 0.98)} {
		cfg := Settings{Seed: 4, Chains: 3}
		timeless := func(state []byte) []byte { // elapsed is the fourth number
			clear(state[24:32])
			return state
		}
		want := timeless(roundsOf(t, target, cfg, nil, -1))
		for k := 1; ; k++ {
			cfg.Parallel = k
			first := roundsOf(t, target, cfg, nil, k)
			if got := timeless(roundsOf(t, target, cfg, first, -1)); !slices.Equal(got, want) {
				t.Errorf("%s: the warm-up that was interrupted at meeting %d differs", name, k)
			}
			if slices.Equal(timeless(first), want) {
				if k < 2 {
					t.Errorf("%s: there was only one meeting", name)
				}
				break
			}
		}
	}
}

// The warm-up of a normal distribution ends as early as it can, whatever its scales, and one that is given is as long as is said.
func TestWarmupEnds(t *testing.T) {
	for warmup, want := range map[int]int{0: firstRound + shortRound + lastRound, 150: 150, 271: 271, 1000: 1000, 100: 100} {
		fit := mustSample(t, independent(1e-4, 1, 1e6), Settings{Seed: 2, Warmup: warmup, Draws: 100})
		if got := fit.WarmupDraws(); got != want {
			t.Errorf("a warm-up of %d draws took %d, want %d", warmup, got, want)
		}
		if fit.chains[0].done != fit.cfg.Warmup+100 || fit.Len(0) != 100 {
			t.Errorf("%d draws, %d of them kept", fit.chains[0].done, fit.Len(0))
		}
	}
}

// A second place like the first one, at 12 in each of the elements of a series that no chain comes to, is told where the metric is sparse, with which climbs are made.
func TestModesOfSeries(t *testing.T) {
	const n, apart = 60, 12
	series := ar1(n, 0.9)
	both := Func(n, func(q, g []float64) float64 {
		there, h := make([]float64, n), make([]float64, n)
		for i, v := range q {
			there[i] = v - apart
		}
		a, err := series.LogProbGrad(q, g)
		b, err2 := series.LogProbGrad(there, h)
		if err != nil || err2 != nil {
			t.Error(err, err2)
		}
		most := max(a, b)
		lp := most + math.Log(math.Exp(a-most)+math.Exp(b-most))
		for i := range g {
			g[i] = math.Exp(a-lp)*g[i] + math.Exp(b-lp)*h[i]
		}
		return lp
	})
	fit := mustSample(t, both, Settings{Seed: 1, Draws: 400})
	m, _ := fit.Adapted(0)
	if missed := fit.MissedModes(); m.Interactions() == 0 || len(missed) != 1 || math.Abs(missed[0].At[0]-apart) > 0.5 {
		t.Errorf("%d interactions, modes that were missed: %v", m.Interactions(), missed)
	}
}

// Parameters of which each interacts with few get a sparse metric, also beside one that interacts with all, and draws of the posterior; where all interact, or where
// they are independent, the metric is not sparse.
func TestMetricOfFewInteractions(t *testing.T) {
	const n = 120
	series := ar1(n, 0.98)
	shared := Func(n+1, func(q, g []float64) float64 { // a series around a mean that data know
		x, gx := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = q[i] - q[n]
		}
		lp, err := series.LogProbGrad(x, gx)
		if err != nil {
			t.Error(err)
		}
		g[n] = -q[n]
		for i := range x {
			g[i] = gx[i]
			g[n] -= gx[i]
		}
		return lp - q[n]*q[n]/2
	})
	dense := Func(60, func(q, g []float64) float64 {
		sum := 0.0
		for _, v := range q {
			sum += v
		}
		lp := -50 * sum * sum
		for i, v := range q {
			g[i] = -100*sum - v
			lp -= v * v / 2
		}
		return lp
	})
	for name, c := range map[string]struct {
		target Target
		sparse bool
	}{"series": {series, true}, "around a mean": {shared, true}, "all": {dense, false}, "none": {independent(sixty()...), false}} {
		fit := mustSample(t, c.target, Settings{Seed: 5, Draws: 250})
		m, _ := fit.Adapted(0)
		if got := m.Interactions() > 0; got != c.sparse {
			t.Errorf("%s: a sparse metric: %v, want %v", name, got, c.sparse)
		}
		if !c.sparse {
			continue
		}
		if n := fit.WarmupDraws(); n > 150 {
			t.Errorf("%s: the warm-up took %d draws, although a sparse metric was there after the first 25", name, n)
		}
		_, gradients := fit.Gradients()
		s := fit.Summary()
		least := math.Inf(1)
		for _, r := range s.Rows {
			least = min(least, r.ESSBulk)
		}
		if e := least / float64(gradients); !(e > 0.07) {
			t.Errorf("%s: %.3f effective draws for a gradient", name, e)
		}
		if name != "series" {
			continue
		}
		for _, i := range []int{0, n / 2, n - 1} {
			if r := s.Rows[i]; !(math.Abs(r.Mean) < 4*r.MCSEMean) || !(math.Abs(r.SD-1) < 4*r.MCSESD) {
				t.Errorf("%s: parameter %d is %g +- %g, of unit variance", name, i, r.Mean, r.SD)
			}
		}
	}
}

func sixty() []float64 {
	out := make([]float64, 60)
	for i := range out {
		out[i] = math.Exp(float64(i%7) - 3)
	}
	return out
}

// Chains in several places learn how wide the places are, not how far apart.
func TestRoundsOfTwoPlaces(t *testing.T) {
	far := Func(2, func(q, g []float64) float64 { // unit normals around 0 and, in the first parameter, 1000
		at := 0.0
		if q[0] > 500 {
			at = 1000
		}
		g[0], g[1] = at-q[0], -q[1]
		return -(g[0]*g[0] + g[1]*g[1]) / 2
	})
	fit := mustSample(t, far, Settings{Seed: 1, Init: [][]float64{{0, 0}, {1000, 0}, {0, 0}, {1000, 0}}, Draws: 50})
	if v := fit.chains[0].ad.Metric.Variances(2); v[0] > 2*v[1] || v[1] > 2*v[0] {
		t.Errorf("variances %v, want both near 1", v)
	}
}

// A run of the version before, in which chains adapted each by itself, goes on as it began.
func TestResumeOfIndependentChains(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	post := centredSchools(t)
	cfg := Settings{Seed: 3, Chains: 2, Draws: 20, Independent: true, Checkpoint: Checkpoint{Path: path}}
	mustSample(t, post, cfg)
	s, err := readAny(path)
	if err != nil {
		t.Fatal(err)
	}
	err = atomicfile.Write(path, true, func(w io.Writer) error {
		return checkpoint.Write(w, checkpointKind, checkpointBefore, func(e *checkpoint.Encoder) {
			e.String(s.settings)
			e.String(s.machine)
			e.Int(len(s.ids))
			for i, id := range s.ids {
				e.Int(id)
				e.Bytes(s.states[i])
			}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	got := mustSample(t, post, Settings{Seed: 3, Chains: 2, Draws: 30, Resume: path})
	want := mustSample(t, post, Settings{Seed: 3, Chains: 2, Draws: 30, Independent: true})
	if !slices.Equal(got.Unconstrained(1, 29), want.Unconstrained(1, 29)) || len(got.Coordinates()) > 0 {
		t.Errorf("draws differ, in the coordinates %v", got.Coordinates())
	}
}

// failing is a target that fails after so many evaluations.
type failing struct {
	Target
	left  *atomic.Int64
	fault error
}

func (f failing) Clone() Target { return failing{f.Target.Clone(), f.left, f.fault} }

func (f failing) LogProbGrad(q, g []float64) (float64, error) {
	if f.left.Add(-1) < 0 {
		return 0, f.fault
	}
	return f.Target.LogProbGrad(q, g)
}

// A fault of a model in a round is told as one of its chain.
func TestFaultInRounds(t *testing.T) {
	target := failing{independent(1, 2), new(atomic.Int64), errors.New("my model failed")}
	target.left.Store(400)
	if _, err := Sample(t.Context(), target, Settings{Seed: 1}); !errors.Is(err, target.fault) || !errors.As(err, new(*DrawError)) {
		t.Error(err)
	}
}

// Steps are refined where a neck would make trajectories diverge, and nowhere else, and fits with such steps go on.
func TestSoftStepsWhereNeeded(t *testing.T) {
	if fit := mustSample(t, independent(1, 2, 3), Settings{Seed: 1, Draws: 20}); fit.SoftSteps() {
		t.Error("steps are refined for a normal distribution")
	}
	s := Settings{Seed: 2, Coordinates: DeclaredCoordinates, Draws: 150}
	want := mustSample(t, uncentredSchools(t), s)
	s.PlainSteps = true
	if plain := mustSample(t, uncentredSchools(t), s); plain.SoftSteps() || !want.SoftSteps() || want.Divergent() > 0 {
		t.Errorf("soft steps: %v, %v where they are not wanted; %d divergences", want.SoftSteps(), plain.SoftSteps(), want.Divergent())
	}
	s.PlainSteps, s.Draws = false, 100
	more, err := mustSample(t, uncentredSchools(t), s).Continue(t.Context(), 50)
	if err != nil || !slices.Equal(more.Unconstrained(1, 149), want.Unconstrained(1, 149)) {
		t.Errorf("continued draws differ: %v", err)
	}
}

// A warm-up that is asked for has as many draws, shared rounds included.
func TestWarmupIsExact(t *testing.T) {
	for _, n := range []int{150, 333} {
		fit := mustSample(t, independent(1, 2), Settings{Seed: 1, Chains: 2, Warmup: n, Draws: 5})
		if got := fit.WarmupDraws(); got != n || fit.cfg.rounds != n-lastRound || fit.Len(0) != 5 {
			t.Errorf("the warm-up has %d draws, %d of them shared, want %d; %d draws are kept", got, fit.cfg.rounds, n, fit.Len(0))
		}
	}
}
