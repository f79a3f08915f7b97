// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
)

// The moves that are foretold for held values are those of fits in which these are off, and a verdict on a right model notes the largest.
func TestHeldValuesMoveFitsAsForetold(t *testing.T) {
	tier.SlowOnly(t)
	k := smallOf(t, 3, true)
	k.Params = slices.DeleteFunc(k.Params, func(p measured.Param) bool { return p.Name == "resolution" || p.Name == "background" })
	k.Fixed = map[string]float64{"resolution": truthOf["resolution"], "background": truthOf["background"], "width": 1, k.Params[0].Name: 1} // the last one is searched for
	k = &measured.Task{Model: k.Model, Params: k.Params, Fixed: k.Fixed}
	s, err := k.Fit(t.Context(), optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := k.Held(s)
	if err != nil {
		t.Fatal(err)
	}
	k.StartAt(s.X)
	for _, h := range list {
		if h.Name != "width" && h.Name != "background" && h.Name != "delta_1_2" {
			continue
		}
		fixed := maps.Clone(k.Fixed)
		by := h.Error / 4 // so that moves are in proportion to it
		fixed[h.Name] = h.Value + by
		other, err := (&measured.Task{Model: k.Model, Params: slices.Clone(k.Params), Fixed: fixed}).Fit(t.Context(), optim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range s.Names {
			if got, want := (other.X[i]-s.X[i])/s.SD[i], h.Moves[n]/4; math.Abs(got-want) > 0.1*math.Abs(want)+0.1 {
				t.Errorf("%s higher by %.3g moves %s by %.3f standard deviations: foretold are %.3f", h.Name, by, n, got, want)
			}
		}
	}
	v, err := k.Check(s)
	i := slices.IndexFunc(v.Notes, func(f check.Flag) bool { return f.Kind == measured.KindHeld })
	if err != nil || !v.OK || i < 0 || !strings.Contains(v.Notes[i].Text, "shell moves by") || !strings.Contains(v.Notes[i].Remedy, "to the parameters") {
		t.Errorf("%v, %v", v, err)
	}
}
