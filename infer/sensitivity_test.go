// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// A mean between its prior and the data depends on both, one with many data on these, and one without data on its prior; the prior of a group with a
// mean that is not known belongs to neither.
func TestSensitivities(t *testing.T) {
	m := NewModel("means")
	torn := m.Param("torn", dist.Normal(0, 1))
	sure := m.Param("sure", dist.Normal(0, 30))
	m.Param("free", dist.Normal(0, 1))
	group := m.Param("group", dist.Normal(sure, 0.1))
	m.Observe("a", dist.Normal(torn, 1), []float64{8})
	m.Observe("b", dist.Normal(ad.Broadcast(sure, 4), 0.1), []float64{1, 1.1, 0.9, 1})
	m.Observe("c", dist.Normal(group, 1), []float64{1})
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	fit, err := Sample(t.Context(), post, Settings{Warmup: 200, Draws: 300, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	all, err := fit.Sensitivities()
	if err != nil {
		t.Fatal(err)
	}
	const enough = 0.05
	for _, s := range all {
		prior := s.Name == "torn" || s.Name == "free"
		likelihood := s.Name != "free"
		if s.Name == "group" {
			continue
		}
		if (s.Prior > enough) != prior || (s.Likelihood > enough) != likelihood {
			t.Errorf("%+v", s)
		}
	}
	if len(all) != 4 {
		t.Errorf("%d quantities: want 4", len(all))
	}
}
