// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph/measured"
)

// countsOf returns the counts of a small measurement as a file would.
func countsOf(d *measured.Data) *scatter.Set {
	set := &scatter.Set{Name: "counts.nc", Kind: scatter.Images, Rows: d.Detector.Rows, Columns: d.Detector.Columns,
		Geometry: scatter.Geometry{PixelY: d.Detector.PixelY, PixelX: d.Detector.PixelX, Distance: d.Geometry.Distance, PoniX: d.Geometry.PoniX, PoniY: d.Geometry.PoniY}}
	for _, f := range d.Frames {
		set.Frames = append(set.Frames, scatter.Frame{Energy: f.Energy, Exposure: 4, Flux: 2, Counts: f.Counts})
	}
	return set
}

// Counts keep their exposure and flux whatever likelihood is asked for, and one that needs errors says that there are none.
func TestCountsByOtherLikelihoods(t *testing.T) {
	d := smallOf(t, 4, true).Model.Data
	for _, loss := range []string{"quasi", "lognormal", "residuals"} {
		got, _, err := measured.FromFile(countsOf(d), measured.Reading{Loss: loss})
		if err != nil {
			t.Fatal(err)
		}
		if f := got.Frames[0]; f.Exposure != 4 || f.Flux != 2 || f.Gains != nil || f.Noise != loss || !slices.Equal(f.Counts, d.Frames[0].Counts) {
			t.Errorf("%s: exposure %g, flux %g, gains %v", f.Noise, f.Exposure, f.Flux, f.Gains)
		}
	}
	_, _, err := measured.FromFile(countsOf(d), measured.Reading{Loss: "gaussian"})
	if err == nil || !strings.Contains(err.Error(), `the counts of counts.nc have no errors, which "loss": "gaussian" needs`) || strings.Contains(err.Error(), "%!") {
		t.Error(err)
	}
}

// A verdict takes images of which some pixels have no error: they are compared by another likelihood, after the others.
func TestVerdictOnErrorsOfZero(t *testing.T) {
	tier.SlowOnly(t)
	k := smallOf(t, 4, true)
	set := countsOf(k.Model.Data)
	set.Rates = true
	for i := range set.Frames {
		f := &set.Frames[i]
		f.Exposure, f.Flux = k.Model.Data.Frames[i].Exposure, 1
		x := slices.Clone(f.Counts)
		f.Counts, f.Errors = x, make([]float64, len(x))
		for p, c := range x {
			x[p], f.Errors[p] = c/f.Exposure, 1.01*math.Sqrt(max(c, 1))/f.Exposure
		}
		clear(f.Errors[:3])
	}
	d, _, err := measured.FromFile(set, measured.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	d.Keep = k.Model.Data.Keep
	k.Model.Data = d
	judged(t, &measured.Task{Model: k.Model, Params: k.Params})
}
