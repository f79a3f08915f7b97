// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/g2"
)

// The description holds every parameter of every model once, and a prior that does not depend on the data
// in the form that can be parsed.
func TestDescriptions(t *testing.T) {
	bounds, priors := g2.DescribeBounds(), g2.DescribePriors()
	for _, m := range g2.Models() {
		for _, text := range []string{bounds, priors} {
			if n := strings.Count(text, "  "+m.Name+": "+m.Formula+"\n"); n != 1 {
				t.Errorf("%s is described %d times in\n%s", m.Name, n, text)
			}
		}
		_, own, _ := strings.Cut(bounds, "  "+m.Name+": ")
		for _, p := range m.Params {
			if !strings.Contains(own, "\n    "+p.Name+" ") {
				t.Errorf("%s: there are no bounds of %s in\n%s", m.Name, p.Name, own)
			}
		}
	}
	for _, want := range []string{"a  1e-12 to 0.001, wider for data in other units, in s A^b", "b  1/20 of the shortest"} {
		if !strings.Contains(bounds, want) {
			t.Errorf("%q is not in\n%s", want, bounds)
		}
	}
	for line := range strings.Lines(priors) {
		_, text, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if ok && strings.Contains(text, "(") {
			text, _, _ = strings.Cut(text, ", in ")
			if _, err := dist.Parse(strings.TrimSpace(text)); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
}
