// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ode

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// What is left of an interval is divided evenly, and a step that was cut short tells how long the next one may be, so that hardly any step is
// refused, and one that is a tenth longer than the advice ends an interval: of predators and prey at yearly times 46 were tried with steps of any length.
func TestStepsTried(t *testing.T) {
	y0, p := ad.Const([]float64{33, 6}, 2), ad.Const([]float64{0.55, 0.027, 0.8, 0.024}, 4)
	times := make([]float64, 21)
	for i := range times {
		times[i] = float64(i)
	}
	rate := func(_ *ad.Node, y, p []*ad.Node) []*ad.Node {
		return []*ad.Node{ad.Mul(ad.Sub(p[0], ad.Mul(p[1], y[1])), y[0]), ad.Mul(ad.Sub(ad.Mul(p[3], y[0]), p[2]), y[1])}
	}
	list, err := problems(rate, []*ad.Node{ad.Input("u"), ad.Input("v")}, y0, knownTimes(0, times[1:]), p, Settings{Method: DOP853, RTol: 1e-6, ATol: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	s := newSolver(list[0])
	if err := s.integrate(nil, y0.Numbers(), p.Numbers(), times); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d steps were tried, and %d taken", s.tried, len(s.path))
	if s.tried > 38 || s.tried-len(s.path) > 3 {
		t.Errorf("%d steps were tried and %d taken: want at most 38, and 3 that were refused", s.tried, len(s.path))
	}
}
