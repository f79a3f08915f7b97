// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

import (
	"fmt"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
)

func TestStanWindowGoldens(t *testing.T) {
	for _, c := range readNuts(t).Windows {
		_, ends := StanWindows(c.Warmup)
		if fmt.Sprint(ends) != fmt.Sprint(c.Updates) {
			t.Errorf("warm-up %d: windows end after %v, want %v", c.Warmup, ends, c.Updates)
		}
	}
}

// Whatever the length of the warm-up, the metric is frozen before its end.
func TestFisherPlan(t *testing.T) {
	for warmup := range 300 {
		p := PlanFisher(warmup, 10, LowRank)
		if p.Early > warmup || p.Freeze > warmup || warmup >= MinAdaptive && p.Freeze >= warmup {
			t.Errorf("warm-up %d: plan %+v", warmup, p)
		}
	}
}

func TestFindStep(t *testing.T) {
	for _, sd := range []float64{1e-8, 1e-2, 1, 1e5} {
		m := hamiltonian.Metric{}
		tr, p := trajectoryAt(t, independent(sd, sd), &m, []float64{sd, -sd / 2})
		eps, err := tr.FindStep(p, 1)
		if err != nil || eps < sd/4 || eps > 4*sd {
			t.Errorf("scale %g: step %g, %v", sd, eps, err)
		}
	}
	m := hamiltonian.Metric{}
	tr, p := trajectoryAt(t, funcDensity(1, func(_, g []float64) float64 { g[0] = 0; return 0 }), &m, []float64{0})
	if _, err := tr.FindStep(p, 1); err != hamiltonian.ErrImproper {
		t.Errorf("flat density: %v", err)
	}
	calls := 0
	point := funcDensity(1, func(_, g []float64) float64 {
		if g[0], calls = 1, calls+1; calls > 1 {
			return math.NaN()
		}
		return 0
	})
	tr, p = trajectoryAt(t, point, &m, []float64{0})
	if _, err := tr.FindStep(p, 1); err != hamiltonian.ErrNoStep {
		t.Errorf("isolated point: %v", err)
	}
}
