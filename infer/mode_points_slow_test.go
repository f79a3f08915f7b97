// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package infer

import "testing"

// Narrow modes are told in runs whose chains do not come there, if the places from which a climb leads to them hold about a thousandth of
// the prior or more, which is one or two points of a run. In more parameters they hold less, and nobody is told.
func TestNarrowModesAreTold(t *testing.T) {
	const runs = 40
	for _, c := range []struct {
		narrowMode
		least int // told, in percent of the runs that do not come there
	}{
		{narrowMode{"one parameter, a hundredth", 1, 0.2, 0.01, 0.2, 1}, 97},
		{narrowMode{"two parameters, a tenth", 2, 0.3, 0.1, 0.1, 1.5}, 97},
		{narrowMode{"two parameters, a hundredth", 2, 0.3, 0.01, 0.3, 1.5}, 25},
		{narrowMode{"three parameters, a twentieth", 3, 0.3, 0.05, 0.05, 1.5}, 85},
		{narrowMode{"four parameters, a thirtieth", 4, 0.5, 0.033, 0.2, 2}, 0},
		{narrowMode{"six parameters, a tenth", 6, 0.5, 0.1, 0.5, 2}, 0},
	} {
		missed, told := 0, 0
		p := c.posterior(t)
		for seed := range uint64(runs) {
			fit := mustSample(t, p, Settings{Seed: seed})
			if c.visited(fit) {
				continue
			}
			missed++
			if !fit.Diagnose().OK() {
				told++
			}
		}
		t.Logf("%s: of %d runs, %d do not come to the narrow mode, of which %d tell of it", c.name, runs, missed, told)
		if 100*told < c.least*missed {
			t.Errorf("%s: of %d runs that do not come to the narrow mode, only %d tell of it: want %d %%", c.name, missed, told, c.least)
		}
	}
}
