// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// pair is a model of two correlated parameters beside independent ones.
func pair(t *testing.T) *Posterior {
	t.Helper()
	m := NewModel("pair")
	theta := m.Param("theta", dist.Normal(0, 1), Shape(3))
	a := m.Param("a", dist.Normal(0, 10))
	b := m.Param("b", dist.Normal(0, 10))
	m.AddLogProb("tie", ad.Scale(-50, ad.Square(ad.Sub(a, b))))
	_ = theta
	p, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A learned block holds the covariance of its parameters, and no other.
func TestBlockVariance(t *testing.T) {
	for _, names := range [][]string{{"a", "b"}, {"b", "theta[1]", "a"}} {
		fit := mustSample(t, pair(t), Settings{Chains: 2, Warmup: 600, Draws: 500, Seed: 3, Metric: BlockVariance, Blocks: [][]string{names}})
		m, _ := fit.Adapted(0)
		cov := m.Cov(5)
		if r := cov[3][4] / math.Sqrt(cov[3][3]*cov[4][4]); r < 0.97 { // shrunk by n/(n+5)
			t.Errorf("%v: correlation in the block is %g, want 1 - 2.5e-5 but for shrinking", names, r)
		}
		if cov[0][2] != 0 || cov[0][3] != 0 {
			t.Errorf("%v: covariance outside the block: %v", names, cov)
		}
		if r := fit.Summary().MaxRHat(); r > 1.05 {
			t.Errorf("%v: R-hat is %g", names, r)
		}
	}
}

func TestBlocksByName(t *testing.T) {
	for _, c := range []struct {
		blocks [][]string
		word   string
	}{
		{[][]string{{"thta"}}, "did you mean theta"},
		{[][]string{{"a"}, {"b", "a"}}, "a twice"},
		{[][]string{{"theta[7]"}}, `"theta[7]"`},
		{nil, "there are no blocks"},
	} {
		_, err := Sample(t.Context(), pair(t), Settings{Metric: BlockVariance, Blocks: c.blocks})
		if err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%v: error %v, want %q", c.blocks, err, c.word)
		}
	}
	if _, err := Sample(t.Context(), pair(t), Settings{Blocks: [][]string{{"a"}}}); err == nil {
		t.Error("Blocks for another metric: no error")
	}
	fit := mustSample(t, independent(1, 1, 1), Settings{Chains: 1, Warmup: 100, Draws: 10, Metric: BlockVariance, Blocks: [][]string{{"q[2]", "q[0]"}}})
	if m, _ := fit.Adapted(0); m.Cov(3)[0][2] == 0 {
		t.Error("no covariance of q[0] and q[2]")
	}
}

func TestBadBlockMetrics(t *testing.T) {
	one := [][]float64{{1}}
	for _, b := range [][]Block{
		{{Parameters: []int{3}, Cov: one}}, {{Parameters: []int{-1}, Cov: one}}, {{Parameters: []int{0}}}, {{}},
		{{Parameters: []int{0}, Cov: one}, {Parameters: []int{0}, Cov: one}},
		{{Parameters: []int{0, 1}, Cov: [][]float64{{1, 2}, {2, 1}}}},
		{{Parameters: []int{0, 1}, Cov: one}},
	} {
		if _, err := BlockMetric([]float64{1, 1, 1}, b...); err == nil {
			t.Errorf("accepted blocks %v", b)
		}
	}
	if _, err := BlockMetric([]float64{1, -1}, Block{Parameters: []int{0}, Cov: one}); err == nil {
		t.Error("accepted variance -1")
	}
}

// Depth options hold for every trajectory.
func TestDepthOptions(t *testing.T) {
	base := Settings{Chains: 1, Warmup: 100, Draws: 50, Seed: 1, KeepWarmup: true}
	depths := func(change func(*Settings)) (warm, kept []int) {
		c := base
		change(&c)
		fit := mustSample(t, independent(1, 1, 1, 1), c)
		for _, s := range fit.WarmupStats(0) {
			warm = append(warm, s.TreeDepth)
		}
		for _, s := range fit.Stats(0) {
			kept = append(kept, s.TreeDepth)
		}
		return warm, kept
	}
	_, kept := depths(func(c *Settings) { c.MinTreeDepth = 5 })
	for _, d := range kept {
		if d < 5 {
			t.Fatalf("depth %d below MinTreeDepth 5", d)
		}
	}
	warm, _ := depths(func(c *Settings) { c.WarmupTreeDepth = 1 })
	for _, d := range warm {
		if d > 1 {
			t.Fatalf("depth %d in the warm-up above WarmupTreeDepth 1", d)
		}
	}
	c := base
	c.NoWarmup, c.StepSize, c.TrajectoryTime, c.StartMetric = true, 0.1, 1.2, &Metric{}
	fit := mustSample(t, independent(1, 1, 1, 1), c)
	for _, s := range fit.Stats(0) {
		if s.TreeDepth != 4 || s.Steps != 15 { // 0.1 (2^4 - 1) >= 1.2 > 0.1 (2^3 - 1)
			t.Fatalf("%d steps, depth %d, want 15 and 4", s.Steps, s.TreeDepth)
		}
	}
	if _, err := Sample(t.Context(), independent(1), Settings{MinTreeDepth: 11, WarmupTreeDepth: 21, TrajectoryTime: math.NaN()}); err == nil ||
		!strings.Contains(err.Error(), "(Settings.MinTreeDepth) is 11") || !strings.Contains(err.Error(), "(Settings.WarmupTreeDepth) is 21") || !strings.Contains(err.Error(), "(Settings.TrajectoryTime) is NaN") {
		t.Errorf("bad depths: %v", err)
	}
}
