// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
)

func estimatorOf(kind MetricKind) func(dim int) Estimator {
	return func(dim int) Estimator { return NewEstimator(kind, dim, false) }
}

// adaptTo feeds an adapter draws of one coordinate with this standard deviation.
func adaptTo(t *testing.T, a *Adapter, tr *hamiltonian.Trajectory, p *hamiltonian.Point, from, to int, sd float64) {
	t.Helper()
	for i := from; i < to; i++ {
		p.Q[0] = sd * math.Sin(float64(7*i)) * math.Sqrt2
		if err := tr.Start(p); err != nil {
			t.Fatal(err)
		}
		out := &hamiltonian.Transition{Steps: 1, Accept: 0.8, Symmetric: 0.8, Index: 1}
		if err := a.Update(tr, p, i, out); err != nil {
			t.Fatal(err)
		}
	}
}

// Each window of Stan's schedule estimates the metric from its own draws: those before
// it, fifty times as wide, are forgotten.
func TestStanWindowsForget(t *testing.T) {
	a := NewAdapter(Settings{Draws: 1000, TargetAccept: 0.8, Kind: DiagVariance, Schedule: StanSchedule, Statistic: Metropolis, MaxDepth: 10, Estimator: estimatorOf(DiagVariance)}, 1)
	if len(a.Ends) < 3 {
		t.Fatalf("windows end after %v", a.Ends)
	}
	tr, p := trajectoryAt(t, independent(10), &a.Metric, []float64{0.5})
	if err := a.Begin(tr, p); err != nil {
		t.Fatal(err)
	}
	adaptTo(t, a, tr, p, 0, a.Ends[0]+1, 50)
	if n := a.Current.Count(); n != 0 {
		t.Errorf("%d draws are kept after the first window", n)
	}
	adaptTo(t, a, tr, p, a.Ends[0]+1, a.Ends[1]+1, 1)
	if got := a.Metric.Scale[0]; math.Abs(got-1) > 0.2 {
		t.Errorf("scale %g after a window of draws of scale 1, behind one of 50", got)
	}
}

// When the younger of the two estimators takes over, the other begins anew.
func TestFisherWindowsForget(t *testing.T) {
	a := NewAdapter(Settings{Draws: 1000, TargetAccept: 0.8, Kind: DiagFisher, MaxDepth: 10, Estimator: estimatorOf(DiagFisher)}, 1)
	tr, p := trajectoryAt(t, independent(1), &a.Metric, []float64{0.5})
	if err := a.Begin(tr, p); err != nil {
		t.Fatal(err)
	}
	switches := 0
	for i := range a.Plan.Freeze {
		before := a.Current
		adaptTo(t, a, tr, p, i, i+1, 1)
		if a.Current != before {
			switches++
			if n := a.Next.Count(); n != 0 {
				t.Errorf("draw %d: %d draws are kept at the switch", i, n)
			}
		}
	}
	if switches < 2 {
		t.Errorf("%d switches in %d draws", switches, a.Plan.Freeze)
	}
}
