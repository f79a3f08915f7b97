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
	for pair, want := range map[[2]string]int{{"kitten", "sitting"}: 3, {"epx", "exp"}: 1, {"epx", "erf"}: 2, {"tua", "tau"}: 1, {"", "ab"}: 2, {"ab", ""}: 2, {"a", "a"}: 0} {
		if d := Distance(pair[0], pair[1]); d != want {
			t.Errorf("the distance of %v is %d, want %d", pair, d, want)
		}
	}
}
