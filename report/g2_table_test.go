// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/g2"
)

// A fit that did not converge does not agree with anything.
func TestAgreement(t *testing.T) {
	right := check.Verdict{OK: true}
	stopped := check.Verdict{Flags: []check.Flag{{Kind: check.KindUnconverged}}}
	wrong := check.Verdict{Flags: []check.Flag{{Kind: check.KindPattern}}}
	unjudged := check.Verdict{Flags: []check.Flag{{Kind: check.KindUnjudged}}}
	for _, c := range []struct {
		status string
		check  check.Verdict
		want   string
	}{{"converged", right, "agrees"}, {"converged", wrong, "misfit"}, {"max_evaluations", stopped, "-"}, {"stuck", right, "-"}, {"stuck", wrong, "misfit"}, {"failed", check.Verdict{}, "-"},
		{"converged", unjudged, "-"}, {"converged", check.Verdict{}, "-"}} {
		if got := agreement(g2.Fit{Status: c.status, Check: c.check}); got != c.want {
			t.Errorf("%s with %d flags: %s, want %s", c.status, len(c.check.Flags), got, c.want)
		}
	}
}

// An ageing sample is told in one line, whatever the residuals of its bins show besides.
func TestAgeingIsToldOnce(t *testing.T) {
	model, err := g2.ByName("single")
	if err != nil {
		t.Fatal(err)
	}
	var fits []g2.Fit
	for bin := range 9 {
		v := check.Verdict{Flags: []check.Flag{{Kind: g2.KindAgeing, Text: "the sample becomes slower", Remedy: "reduce ages"}, {Kind: check.KindPattern, Text: "a second decay would fit better", P: 1e-9 * float64(bin)}}}
		fits = append(fits, g2.Fit{Model: model, Status: "converged", Curve: g2.Curve{Bin: bin + 1}, X: make([]float64, 3), SD: make([]float64, 3), Check: v})
	}
	fits[8].Check.Flags = []check.Flag{{Text: "another thing"}}
	var b strings.Builder
	if err := WriteFits(&b, model, fits, false); err != nil {
		t.Fatal(err)
	}
	_, said, _ := strings.Cut(b.String(), "misfit: 9.\n")
	if want := "bins 1-8: the sample becomes slower. Try: reduce ages. Also: pattern of the residuals.\nbin 9: another thing. Details: --verbose.\n"; said != want {
		t.Errorf("%q, want %q", said, want)
	}
}

// A note of many bins is written once, as the first of them has it.
func TestNotesOfBinsAreToldOnce(t *testing.T) {
	var fits []g2.Fit
	for bin := range 4 {
		note := check.Flag{Note: true, Text: fmt.Sprintf("the errors are %.1f times too large", 1.5+float64(bin))}
		fits = append(fits, g2.Fit{Status: "converged", Curve: g2.Curve{Bin: bin + 1}, Check: check.Verdict{OK: true, Notes: []check.Flag{note}}})
	}
	if said := saidOf(fits, true); strings.Count(said, "too large") != 1 || !strings.Contains(said, "bins 1-4: note: the errors are 1.5 times too large") {
		t.Error(said)
	}
}
