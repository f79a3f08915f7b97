// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fitfile

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/models/spectra"
)

// Cosmic rays in a row do not move its velocity, and the row says that pixels were left out; with a line that no template has, the
// row is no success.
func TestRowsWithSpikes(t *testing.T) {
	run, rows := fitted(t, 1)
	p := pipelineOf(t, &run, func(s *Settings) { s.FixedContinuum, s.KeepSpikes = false, false })
	at := 0
	row := func(change func(star *spectra.Star)) survey.Row {
		star := must[*spectra.Star](t)(p.Fiber(run.Coadd(t), func(*survey.DESI) (int, error) { return rows[at], nil }))
		if change != nil {
			change(star)
		}
		out := must[[]Outcome](t)(p.Fit(context.Background(), []spectra.Star{*star}))
		if out[0].Fit.Err != nil {
			t.Fatal(out[0].Fit.Err)
		}
		return p.Row(&out[0])
	}
	// A star that the library describes; the others' misfits are as the reference's.
	plain := row(nil)
	for plain.Disagrees || plain.WarningFlags != 0 {
		if at++; at == len(rows) {
			t.Skip("the library describes no star of the reference")
		}
		plain = row(nil)
	}
	struck := row(func(star *spectra.Star) {
		for k, height := range []float64{200, 15, 60, 30, 120} {
			x := &star.Spectra[k%len(star.Spectra)]
			middle := len(x.Lam) * (k + 1) / 7
			for d, share := range []float64{0.3, 1, 0.4} {
				x.Flux[middle+d] += height * share * x.Err[middle+d]
			}
		}
	})
	line := row(func(star *spectra.Star) {
		x := &star.Spectra[0]
		middle := len(x.Lam) / 2
		for d := -12; d <= 12; d++ {
			x.Flux[middle+d] += 30 * math.Exp(-float64(d*d)/50) * x.Err[middle+d]
		}
	})
	if plain.LeftOut != 0 {
		t.Errorf("without spikes %d pixels were left out", plain.LeftOut)
	}
	if off := math.Abs(struck.VRad-plain.VRad) / plain.VRadErr; off > 1 || struck.LeftOut < 10 || struck.WarningFlags&survey.WarnSpikes == 0 {
		t.Errorf("with spikes the velocity moved by %.2f standard deviations, and %d pixels were left out: flags %d", off, struck.LeftOut, struck.WarningFlags)
	}
	if !line.Disagrees || line.WarningFlags&survey.WarnPixels == 0 {
		t.Errorf("with a line: %+v", line.WarningFlags)
	}
}
