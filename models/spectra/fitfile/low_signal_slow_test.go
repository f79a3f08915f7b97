// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package fitfile_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/ccf"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
)

// The errors of velocities cover the truth also where the noise is as large as the lines: of 100 stars or more at each signal-to-noise
// ratio, the pulls are those of a normal distribution but for what the choice of the deepest of several minima adds. Of 300 stars each with
// ratios of 6 and 12 none is said to have another velocity. Stars with strong lines have no profile.
func TestVelocitiesOfFaintStars(t *testing.T) {
	p, lib := demonstration(t)
	for _, c := range []struct {
		sn     float64 // signal-to-noise ratio of a pixel
		n      int
		most   float64 // largest root mean square of the pulls
		others int     // largest number of stars of which other velocities are told
	}{{2, 100, 1.6, 100}, {3, 100, 1.4, 100}, {4, 100, 1.4, 100}, {6, 300, 1.4, 0}, {12, 300, 1.4, 0}, {40, 100, 1.4, 0}} {
		n := c.n
		stars, truth, err := demo.Stars(t.Context(), lib, n, demo.StarSettings{SN: [2]float64{c.sn, c.sn}, Seed: 11})
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Fit(t.Context(), stars)
		if err != nil {
			t.Fatal(err)
		}
		squares, worst, profiles, others := 0.0, 0.0, 0, 0
		for i, o := range out {
			if o.Fit.Err != nil {
				t.Fatal(o.Fit.Err)
			}
			pull := (o.Fit.X[0] - truth[i].Vel) / o.Fit.SD[0]
			squares, worst = squares+pull*pull, max(worst, math.Abs(pull))
			if w := o.Fit.Profile; w != nil {
				profiles++
				if len(w.Others) > 0 {
					others++
				}
				if told := o.Fit.Verdict.Word(); len(w.Others) > 0 && told == "agrees" {
					t.Errorf("S/N %g, %s: other velocities fit almost as well, %v, but the verdict is %q", c.sn, o.Fit.Star, w.Others, told)
				}
			}
		}
		rms := math.Sqrt(squares / float64(n))
		t.Logf("S/N %g: pulls of root mean square %.2f, of at most %.1f; %d profiles, %d with other minima", c.sn, rms, worst, profiles, others)
		if !(rms < c.most) || worst > 5 {
			t.Errorf("S/N %g: the pulls have a root mean square of %.2f and reach %.1f, want less than %g and 5", c.sn, rms, worst, c.most)
		}
		if others > c.others {
			t.Errorf("S/N %g: other velocities of %d of %d stars are told, want %d", c.sn, others, n, c.others)
		}
		if c.sn > 20 && profiles > 0 {
			t.Errorf("S/N %g: %d stars have profiles", c.sn, profiles)
		}
	}
}

// demonstration returns a pipeline with the library of the demonstration.
func demonstration(t *testing.T) (*fitfile.Pipeline, *spectra.Library) {
	arms, err := demo.StarLibrary(t.Context(), demo.LibrarySettings{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	var templates []*rvspecfit.CCF
	for _, arm := range arms {
		src, err := ccf.FromTemplates(arm)
		if err != nil {
			t.Fatal(err)
		}
		c, err := ccf.Build(src, ccf.BuildSettings{Every: 3, Vsinis: []float64{0, 50}, Revision: "demo", Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		templates = append(templates, c)
	}
	config := rvspecfit.DefaultConfig()
	config.Library, config.MinVel, config.MaxVel = filepath.Join(t.TempDir(), "library.h5"), -600, 600
	if err := rvspecfit.WriteOpen(config.Library, arms, templates); err != nil {
		t.Fatal(err)
	}
	lib, err := spectra.From(arms, spectra.LoadSettings{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := fitfile.New(fitfile.Settings{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	return p, lib
}
