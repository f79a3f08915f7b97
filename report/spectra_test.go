// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
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
