// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fitfile

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/models/spectra"
)

// Cosmic rays in a row do not move its velocity, and the row says that pixels were left out; with a line that no template has, the
// row is no success.
func TestRowsWithSpikes(t *testing.T) {
	file := filepath.Join(golden.Path(t, "spectra/desi"), "coadd-synth-1.fits")
	p := pipeline(t, func(s *Settings) { s.FixedContinuum, s.KeepSpikes = false, false })
	row := func(change func(star *spectra.Star)) survey.Row {
		star := must[*spectra.Star](t)(p.Fiber(file, func(*survey.DESI) (int, error) { return 3, nil }))
		if change != nil {
			change(star)
		}
		out := must[[]Outcome](t)(p.Fit(context.Background(), []spectra.Star{*star}))
		if out[0].Fit.Err != nil {
			t.Fatal(out[0].Fit.Err)
		}
		t.Log(out[0].Fit.Verdict)
		return p.Row(&out[0])
	}
	plain := row(nil)
	struck := row(func(star *spectra.Star) {
		for k, height := range []float64{200, 15, 60, 30, 120} {
			x := &star.Spectra[k%len(star.Spectra)]
			at := len(x.Lam) * (k + 1) / 7
			for d, share := range []float64{0.3, 1, 0.4} {
				x.Flux[at+d] += height * share * x.Err[at+d]
			}
		}
	})
	line := row(func(star *spectra.Star) {
		x := &star.Spectra[0]
		at := len(x.Lam) / 2
		for d := -12; d <= 12; d++ {
			x.Flux[at+d] += 30 * math.Exp(-float64(d*d)/50) * x.Err[at+d]
		}
	})
	if plain.Disagrees || plain.WarningFlags != 0 || plain.LeftOut != 0 {
		t.Errorf("without spikes: %+v", plain)
	}
	if off := math.Abs(struck.VRad-plain.VRad) / plain.VRadErr; off > 1 || struck.LeftOut < 10 || struck.WarningFlags&survey.WarnSpikes == 0 {
		t.Errorf("with spikes the velocity moved by %.2f standard deviations, and %d pixels were left out: flags %d", off, struck.LeftOut, struck.WarningFlags)
	}
	if !line.Disagrees || line.WarningFlags&survey.WarnPixels == 0 {
		t.Errorf("with a line: %+v", line.WarningFlags)
	}
}
