// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spelling

import "testing"

func TestMeant(t *testing.T) {
	names := []string{"single", "double", "stretched", "power"}
	for in, want := range map[string]string{"sngle": "single", "singel": "single", "strethced": "stretched", "xyz": "", "": ""} {
		if got := Meant(in, names); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if d := Distance("kitten", "sitting"); d != 3 {
		t.Errorf("distance %d, want 3", d)
	}
}
