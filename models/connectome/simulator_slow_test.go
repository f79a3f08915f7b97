// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package connectome

import (
	"context"
	"testing"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
)

// At full size, warm soft dynamics miss hard overlaps by some hundredths; corrected and
// emulated they are within 0.02 in the mean.
func TestSimulatorLarge(t *testing.T) {
	ctx, s := context.Background(), Simulator{Graphs: 16}
	mean, worst := far(t, s, 150)
	t.Logf("soft: off by %.4f in the mean, %.4f at most", mean, worst)
	for name, f := range map[string]func(context.Context, int) (Simulator, error){"corrected": s.Corrected, "emulated": s.Emulated} {
		start := time.Now()
		c, err := f(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		made := time.Since(start)
		mean, worst := far(t, c, 150)
		t.Logf("%s in %.1f s: off by %.4f in the mean, %.4f at most", name, made.Seconds(), mean, worst)
		if mean > 0.02 {
			t.Errorf("%s: overlaps are off by %.4f", name, mean)
		}
	}
	for _, graphs := range []int{4, 8, 16} {
		b, p := ad.Input("b"), ad.Input("p")
		y := ad.Sum(Simulator{Graphs: graphs}.Overlaps(b, p))
		prog, err := ad.Compile(append([]*ad.Node{y}, ad.Grad(y, b, p)...), ad.Settings{Inputs: []*ad.Node{b, p}, Backend: ad.CPU{Threads: 1}})
		if err != nil {
			t.Fatal(err)
		}
		st := prog.NewState()
		st.Input(0)[0], st.Input(1)[0] = Simulator{}.defaults().centre()
		if err := st.Run(); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		for range 10 {
			if err := st.Run(); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%d graphs: %.1f ms a gradient", graphs, time.Since(start).Seconds()*100)
	}
}

// Two hundred data sets, with the simulator in the loop of the sampler and emulated.
func TestSimulatorCalibrationLarge(t *testing.T) {
	c := infer.SBCSettings{Fits: 200, Draws: 9, Seed: 5, Sample: infer.Settings{Warmup: 120, Draws: 150}}
	c.Done = func(n int) {
		if n%20 == 0 {
			t.Log(n, "fits")
		}
	}
	t.Run("emulated", func(t *testing.T) {
		s, err := emulated()
		if err != nil {
			t.Fatal(err)
		}
		calibrated(t, s, c)
	})
	t.Run("in the loop", func(t *testing.T) {
		calibrated(t, Simulator{N: 60, K: 6, Steps: 4, Graphs: 2, Temperature: 2, Tau: .1, Seed: 3, P: .4}, c)
	})
}
