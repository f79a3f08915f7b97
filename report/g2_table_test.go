// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
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
