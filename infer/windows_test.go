package infer

import (
	"math"
	"testing"
)

// adaptTo feeds an adapter draws of one coordinate with this standard deviation.
func adaptTo(t *testing.T, a *adapter, tr *trajectory, p *point, from, to int, sd float64) {
	t.Helper()
	for i := from; i < to; i++ {
		p.q[0] = sd * math.Sin(float64(7*i)) * math.Sqrt2
		if err := tr.start(p); err != nil {
			t.Fatal(err)
		}
		out := &transition{steps: 1, accept: 0.8, symmetric: 0.8, index: 1}
		if err := a.update(tr, p, i, out); err != nil {
			t.Fatal(err)
		}
	}
}

// Each window of Stan's schedule estimates the metric from its own draws: those before
// it, fifty times as wide, are forgotten.
func TestStanWindowsForget(t *testing.T) {
	cfg, err := Config{Metric: DiagVariance, Schedule: StanSchedule, Statistic: Metropolis, Warmup: 1000, Draws: 10}.withDefaults(1)
	if err != nil {
		t.Fatal(err)
	}
	a := newAdapter(&cfg, 1)
	if len(a.ends) < 3 {
		t.Fatalf("windows end after %v", a.ends)
	}
	tr, p := trajectoryAt(t, independent(10), &a.metric, []float64{0.5})
	if err := a.begin(tr, p); err != nil {
		t.Fatal(err)
	}
	adaptTo(t, a, tr, p, 0, a.ends[0]+1, 50)
	if n := a.current.count(); n != 0 {
		t.Errorf("%d draws are kept after the first window", n)
	}
	adaptTo(t, a, tr, p, a.ends[0]+1, a.ends[1]+1, 1)
	if got := a.metric.scale[0]; math.Abs(got-1) > 0.2 {
		t.Errorf("scale %g after a window of draws of scale 1, behind one of 50", got)
	}
}

// When the younger of the two estimators takes over, the other begins anew.
func TestFisherWindowsForget(t *testing.T) {
	cfg, err := Config{Metric: DiagFisher, Warmup: 1000, Draws: 10}.withDefaults(1)
	if err != nil {
		t.Fatal(err)
	}
	a := newAdapter(&cfg, 1)
	tr, p := trajectoryAt(t, independent(1), &a.metric, []float64{0.5})
	if err := a.begin(tr, p); err != nil {
		t.Fatal(err)
	}
	switches := 0
	for i := range a.plan.freeze {
		before := a.current
		adaptTo(t, a, tr, p, i, i+1, 1)
		if a.current != before {
			switches++
			if n := a.next.count(); n != 0 {
				t.Errorf("draw %d: %d draws are kept at the switch", i, n)
			}
		}
	}
	if switches < 2 {
		t.Errorf("%d switches in %d draws", switches, a.plan.freeze)
	}
}
