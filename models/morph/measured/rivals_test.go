// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"slices"
	"strings"
	"testing"
)

// Of causes that explain the data about as well, one that most measurements have comes before one that few have, and a simple one before one
// that resembles it.
func TestOrderOfCauses(t *testing.T) {
	fit := func(cost float64, x ...float64) *Solution { return &Solution{cost: cost, X: x, Pixels: 1000} }
	for name, c := range map[string]struct {
		rivals []rival
		want   string
	}{
		"an exposure 30 % off is less likely than an absorber": {[]rival{{kind: "exposure", usual: 0.02, off: []float64{0}, fit: fit(100, 0.3)}, {kind: "absorption", fit: fit(120, 200)}}, "absorption"},
		"an exposure 3 % off is not":                           {[]rival{{kind: "exposure", usual: 0.02, off: []float64{0}, fit: fit(100, 0.03)}, {kind: "absorption", fit: fit(120, 200)}}, "exposure"},
		"a shift comes before a tilt":                          {[]rival{{kind: "tilt", simpler: "centre", fit: fit(100, 1, 1)}, {kind: "flux", fit: fit(101, 1, 1)}, {kind: "centre", fit: fit(105, 1, 1)}}, "centre"},
		"unless the tilt explains more":                        {[]rival{{kind: "tilt", simpler: "centre", fit: fit(100, 1, 1)}, {kind: "centre", fit: fit(115, 1, 1)}}, "tilt"},
	} {
		slices.SortStableFunc(c.rivals, func(a, b rival) int { return compare(a.penalised(), b.penalised()) })
		simplerFirst(c.rivals)
		if c.rivals[0].kind != c.want {
			t.Errorf("%s: %q comes first", name, c.rivals[0].kind)
		}
	}
}

// A change that moves the data by rounding errors only, as a flux does a ratio of intensities, is no cause.
func TestChangesThatNobodySees(t *testing.T) {
	e := effect{step: 0.01}
	if got := e.seen([]float64{1e-12, -1e-12}); got[0] != 0 || got[1] != 0 {
		t.Error(got)
	}
	if got := e.seen([]float64{1e-3, 0}); got[0] != 1e-3 {
		t.Error(got)
	}
}

// The prior that is proposed does not forbid what was found.
func TestProposedPriors(t *testing.T) {
	if got := (moved{by: []float64{0.01}}).within(0.02); !strings.Contains(got, "normal(0, 0.02)") {
		t.Error(got)
	}
	if got := (moved{by: []float64{0.01, -0.51}}).within(0.02); !strings.Contains(got, "normal(0, 0.6)") {
		t.Error(got)
	}
}

// A value that is held is told with the value that would fit better: its change alone would read as the value, as a negative background.
func TestHeldValuesAreTold(t *testing.T) {
	held := map[string]float64{"background": 4.4, "energy_shift": 0.2, "purity": 0.9, "resolution": 1.5, "fluorescence_1": 3, "rot1": 0.01}
	said := map[string]string{
		"background": "background held at 4.4 counts/s would fit better at about 4.01 counts/s", "photon energy": "energy_shift held at 0.2 eV would fit better at about -0.19 eV",
		"polarisation": "purity held at 0.9 would fit better at about 0.51", "fluorescence": "fluorescence_1 held at 3 counts/s would fit better at about 2.61 counts/s",
		"blur": "images that are sharper", "tilt of the detector": "turned further by about -390 mrad",
	}
	k := &Task{Fixed: held, Model: &Model{Data: &Data{Frames: []Frame{{Energy: 280}}}}}
	for _, e := range effects {
		want, ok := said[e.kind]
		if !ok {
			continue
		}
		params := []string{strings.Replace(e.params[0], "{N}", "1", 1)}
		text, remedy := e.tells(moved{k, params, []float64{-0.39}, []float64{1}})
		if !strings.Contains(text, want) || e.kind != "blur" && !strings.Contains(remedy, "in place of holding it at") {
			t.Errorf("%s: %s: %s", e.kind, text, remedy)
		}
	}
}
