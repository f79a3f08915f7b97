package infer

import (
	"fmt"
	"math"
	"testing"
)

func TestStanWindowGoldens(t *testing.T) {
	for _, c := range readNuts(t).Windows {
		_, ends := stanWindows(c.Warmup)
		if fmt.Sprint(ends) != fmt.Sprint(c.Updates) {
			t.Errorf("warm-up %d: windows end after %v, want %v", c.Warmup, ends, c.Updates)
		}
	}
}

// Whatever the length of the warm-up, the metric is frozen before its end.
func TestFisherPlan(t *testing.T) {
	for warmup := range 300 {
		p := planFisher(warmup, 10, LowRank)
		if p.early > warmup || p.freeze > warmup || warmup >= minAdaptive && p.freeze >= warmup {
			t.Errorf("warm-up %d: plan %+v", warmup, p)
		}
	}
}

func TestFindStep(t *testing.T) {
	for _, sd := range []float64{1e-8, 1e-2, 1, 1e5} {
		m := Metric{}
		tr, p := trajectoryAt(t, independent(sd, sd), &m, []float64{sd, -sd / 2})
		eps, err := tr.findStep(p, 1)
		if err != nil || eps < sd/4 || eps > 4*sd {
			t.Errorf("scale %g: step %g, %v", sd, eps, err)
		}
	}
	m := Metric{}
	tr, p := trajectoryAt(t, Func(1, func(_, g []float64) float64 { g[0] = 0; return 0 }), &m, []float64{0})
	if _, err := tr.findStep(p, 1); err != ErrImproper {
		t.Errorf("flat density: %v", err)
	}
	calls := 0
	point := Func(1, func(_, g []float64) float64 {
		if g[0], calls = 1, calls+1; calls > 1 {
			return math.NaN()
		}
		return 0
	})
	tr, p = trajectoryAt(t, point, &m, []float64{0})
	if _, err := tr.findStep(p, 1); err != ErrNoStep {
		t.Errorf("isolated point: %v", err)
	}
}

// Realised rates are what was asked for, to the 0.1 beyond which Diagnose warns.
func TestTargetAcceptIsRealised(t *testing.T) {
	for _, delta := range []float64{0.6, 0.8, 0.95} {
		fit := mustSample(t, independent(1, 2, 3, 4, 5), Config{Chains: 2, TargetAccept: delta, Seed: 8})
		for c := range 2 {
			if got := fit.acceptance(c); math.Abs(got-delta) > 0.1 {
				t.Errorf("aimed at %g, chain %d got %.3f", delta, c, got)
			}
		}
	}
}
