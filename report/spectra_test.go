// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
)

// The verdict stands beside the star, in sight without scrolling, and why a fit failed stands below the table.
func TestVerdictsStandBesideStars(t *testing.T) {
	s := &SpectraFits{Stars: make([]spectra.Star, 2), Outcomes: []fitfile.Outcome{
		{Fit: spectra.Fit{Star: "one", Names: []string{"vel"}, X: []float64{10}, SD: []float64{1}, Converged: true, Verdict: &check.Verdict{OK: true}}},
		{Fit: spectra.Fit{Star: "two", Names: []string{"vel"}, Err: errors.New("no pixel is left")}},
	}}
	var b strings.Builder
	if err := s.Write(&b, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one   agrees  10.0 +- 1.0", "two   failed  -", "two: failed: no pixel is left"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, &b)
		}
	}
	page := s.Page(Settings{}).HTML()
	for _, want := range []string{"<th>star</th><th>model</th>", "<td>two</td><td>failed</td>", "two: failed: no pixel is left"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}

// That the grid of templates is too coarse is told without --verbose, once for all stars.
func TestCoarseGridIsTold(t *testing.T) {
	var fits SpectraFits
	for i := range 5 {
		v := check.Verdict{OK: true, Notes: []check.Flag{{Kind: spectra.KindCoarse, Note: true, Text: fmt.Sprintf("wrong by %d %%", i), Remedy: "a finer grid"}}}
		fits.Outcomes = append(fits.Outcomes, fitfile.Outcome{Fit: spectra.Fit{Star: fmt.Sprint("s", i), Verdict: &v}})
	}
	if said := fits.verdictLines(false); strings.Count(said, "wrong by") != 1 || !strings.Contains(said, "5 stars (s0, s1, s2 and 2 more): note: wrong by 0 %: a finer grid") {
		t.Error(said)
	}
}
