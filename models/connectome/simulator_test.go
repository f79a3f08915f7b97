// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/tier"
)

// small is a simulator that tests can afford.
var small = Simulator{N: 200, K: 15, Steps: 5, Graphs: 4, Seed: 3, P: 0.25}

// emulated is small as a surface.
var emulated = sync.OnceValues(func() (Simulator, error) { return small.Emulated(context.Background(), 16) })

// soft evaluates Overlaps.
func (s Simulator) soft(t *testing.T, beta, p float64) []float64 {
	t.Helper()
	return eval(t, s.Overlaps(ad.Scalar(math.Log(beta)), ad.Scalar(math.Log(p/(1-p)))))[0]
}

// far returns the mean and the largest difference of a simulator's overlaps and those of
// hard assemblies in other graphs, between the places of the design.
func far(t *testing.T, s Simulator, graphs int) (mean, worst float64) {
	t.Helper()
	judge := s.defaults()
	judge.Graphs, judge.Seed = graphs, 99
	n := 0.0
	for _, beta := range []float64{.07, .14} {
		for _, p := range []float64{0.7 * judge.P, 1.4 * judge.P} {
			want, err := judge.Hard(beta, p)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range s.soft(t, beta, p) {
				e := math.Abs(v - want[i])
				mean, worst, n = mean+e, max(worst, e), n+1
			}
		}
	}
	return mean / n, worst
}

// A surface is within 0.02 of hard assemblies in the mean; the graphs it is compared
// with are others.
func TestEmulated(t *testing.T) {
	tier.SlowOnly(t)
	s, err := emulated()
	if err != nil {
		t.Fatal(err)
	}
	mean, worst := far(t, s, 200)
	t.Logf("emulated: overlaps off by %.4f in the mean, %.4f at most", mean, worst)
	if mean > 0.02 {
		t.Errorf("overlaps are off by %.4f", mean)
	}
}

// Gradients of warm soft dynamics agree with central differences.
func TestSimulatorGradient(t *testing.T) {
	s := Simulator{N: 40, K: 5, Steps: 4, Graphs: 2, Temperature: 2, Tau: .3}
	b, p := ad.Input("b"), ad.Input("p")
	gradtest.Check(t, "overlaps", ad.Sum(s.Overlaps(b, p)), []*ad.Node{b, p}, [][]float64{{-2}, {-1.5}}, false)
}

// calibrated asks for uniform ranks of every parameter: a right sampler fails once in
// 100 runs of other seeds.
func calibrated(t *testing.T, s Simulator, c infer.SBCSettings) {
	t.Helper()
	m, err := s.Model(make([]int, s.defaults().Steps-1))
	if err != nil {
		t.Fatal(err)
	}
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	out, err := infer.SBC(context.Background(), post, c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := out.Report()
	if err != nil || !r.Diagnose().OK() || len(out.Failed) > 0 {
		t.Errorf("%v %v %v", out, err, out.Failed)
	}
	t.Logf("%v", out)
}

func TestSimulatorCalibration(t *testing.T) {
	tier.SlowOnly(t)
	s, err := emulated()
	if err != nil {
		t.Fatal(err)
	}
	calibrated(t, s, infer.SBCSettings{Fits: 60, Draws: 19, Seed: 5, Sample: infer.Settings{Warmup: 300, Draws: 200}})
}

// A fit of overlaps that the simulator itself drew finds the parameters again.
func TestFitSimulator(t *testing.T) {
	s, err := emulated()
	if err != nil {
		t.Fatal(err)
	}
	hard, err := s.Hard(.12, .2)
	if err != nil {
		t.Fatal(err)
	}
	var o []int
	for _, v := range hard {
		o = append(o, int(math.Round(v*15)))
	}
	fit, err := FitSimulator(context.Background(), s, o, infer.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	sum := fit.Summary()
	b, kp := sum.Row("beta"), sum.Row("kp")
	t.Logf("beta %.3f +- %.3f, kp %.2f +- %.2f", b.Mean, b.SD, kp.Mean, kp.SD)
	if math.Abs(b.Mean-.12) > 3*b.SD || math.Abs(kp.Mean-3) > 3*kp.SD || b.RHat > 1.01 || fit.Divergent() > 0 {
		t.Errorf("%v", sum)
	}
	if _, err := FitSimulator(context.Background(), s, []int{1}, infer.Settings{}); err == nil || !strings.Contains(err.Error(), "1 overlaps of 5 steps") {
		t.Errorf("too few overlaps: %v", err)
	}
	if _, err := s.Hard(.1, 1); err == nil || !strings.Contains(err.Error(), "probability 1") {
		t.Errorf("a certain connection: %v", err)
	}
}
