// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
)

// implied are defaults that no number in the code states, with the reason.
var implied = map[string]string{
	"models/morph.CurveData.AWeight": "a weight of 1 is none",
	"optim.Descent.Accumulate":       "every gradient is one update where it is at most 1",
	"notebook.Settings.Chains":       "a tag of setting.Sampler declares it",
	"notebook.Settings.TargetAccept": "a tag of setting.Sampler and of g2.Sampling declares it",
	"notebook.Settings.MaxTreeDepth": "a tag of setting.Sampler declares it",
}

// Numbers that comments of fields state as defaults are those that the code takes.
func TestDefaultsInComments(t *testing.T) {
	tier.SlowOnly(t)
	all, errs := newChecker(t).Defaults()
next:
	for _, err := range errs {
		for field := range implied {
			if strings.Contains(err.Error(), " "+field+" ") {
				continue next
			}
		}
		t.Error(err)
	}
	if len(all) < 150 {
		t.Errorf("%d defaults in comments: they are not found any more", len(all))
	}
}
