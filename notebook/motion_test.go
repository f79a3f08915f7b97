// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook_test

import (
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/internal/tier"
	nb "github.com/euryale-dev/euryale/notebook"
)

// The motion of the demonstration is fitted and sampled in cells.
func TestMotion(t *testing.T) {
	tier.SlowOnly(t)
	m := nb.DemoMotion()
	displays(t, "motion", m, "laminar_flow", "[0 45 90]", "D_offset fixed at 0")
	fit := m.Fit(nb.Settings{Start: map[string]float64{"D0": 5000}})
	displays(t, "fit", fit, "gamma_dot_t0", "contrast at 45", "agrees with the data")
	if len(fit.Images(1, 3).SVG()) == 0 || len(fit.Lags().SVG()) == 0 {
		t.Error("no pictures")
	}
	dir := t.TempDir()
	fit.Report(filepath.Join(dir, "fit.html"))
	post := m.Sample(nb.Settings{Seed: 1, Chains: 2, Warmup: 60, Draws: 40, Priors: map[string]string{"log_D0": "normal(9, 1)"}, Fixed: map[string]float64{"phi0": 4}})
	displays(t, "posterior", post, "alpha")
	post.Report(filepath.Join(dir, "post.html"))
	few := demo.Sheared(2)
	few.Sample.Speckles = 300
	if err := few.Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	displays(t, "file", nb.OpenMotion(filepath.Join(dir, "flow.yaml")), "flow.yaml")
	fails(t, "want D0, alpha", func() { m.Fit(nb.Settings{Fixed: map[string]float64{"gamma": 1}}) })
	fails(t, "choose one of its 3 azimuths, from 1 to 3", func() { fit.Lags(4) })
	fails(t, "leave this prior to sample twotime", func() { m.Fit(nb.Settings{Priors: map[string]string{"offset": "normal(1, 0.1)"}}) })
	fails(t, "no option Draws", func() { m.Fit(nb.Settings{Draws: 5}) })
	fails(t, "has no option Start", func() { m.Sample(nb.Settings{Start: map[string]float64{"D0": 1}}) })
	fails(t, "want D0, alpha", func() { m.Sample(nb.Settings{Priors: map[string]string{"D1": "normal(0, 1)"}}) })
	fails(t, "nowhere.yaml", func() { nb.OpenMotion("nowhere.yaml") })
}
