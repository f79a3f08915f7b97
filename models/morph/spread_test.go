// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import "testing"

// The sizes of a closed form spread by the parameter of its ensemble, unless a problem has it or there is none.
func TestSpreadOfClosedForms(t *testing.T) {
	for name, c := range map[string]struct {
		p             Problem
		want, asModel string
	}{
		"core_shell":            {Problem{Model: "core_shell", Options: ProblemOptions{Closed: true}}, "size_sd", "particles"},
		"voxels of core_shell":  {Problem{Model: "core_shell"}, "", ""},
		"rod":                   {Problem{Model: "rod", Options: ProblemOptions{Closed: true}}, "radius_sd", "rods"},
		"ellipsoids":            {Problem{Model: "ellipsoids"}, "size_sd", "ellipsoids"},
		"stacks":                {Problem{Model: "stacks"}, "", ""},
		"particles that spread": {Problem{Model: "particles", Parameters: map[string]ProblemParam{"size_sd": {}}}, "", ""},
		"particles that cannot": {Problem{Model: "particles", Fixed: map[string]float64{"size_sd": 0.1}}, "", ""},
	} {
		got, wider := c.p.Spread()
		if got != c.want || (wider != nil) != (c.want != "") || wider != nil && wider.Model != c.asModel {
			t.Errorf("%s: %q of %+v", name, got, wider)
		}
		if _, changed := c.p.Parameters[got]; changed {
			t.Errorf("%s: the problem itself has changed", name)
		}
	}
}
