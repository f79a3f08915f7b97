// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/morph"
)

// A box that cuts the envelope of a grain is told, with its size, by voxels and in closed form.
func TestBoxThatCutsAGrain(t *testing.T) {
	closed := func(morph.Values, float64) morph.ClosedForm { return morph.ClosedForm{} }
	for _, c := range []struct {
		slices int
		fixed  bool
		closed func(morph.Values, float64) morph.ClosedForm
		want   string
	}{
		{38, false, nil, "2.9 grain sizes from the middle along z (91.2 nm across"},
		{38, true, closed, "fit those without options.closed"},
		{50, false, nil, ""},
	} {
		k := &Task{Model: &Model{Grid: morph.Grid{Shape: [3]int{c.slices, 50, 52}, Voxel: 2.4}, Morphology: []string{"period", "grain"}, Closed: c.closed}}
		if c.fixed {
			k.Fixed = map[string]float64{"grain": 15.5}
		} else {
			k.Params = []Param{{Name: "grain"}}
		}
		got := strings.Join(k.cutEnvelope([]float64{15.5}), "\n")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%d slices: %q, want %q", c.slices, got, c.want)
		}
	}
}
