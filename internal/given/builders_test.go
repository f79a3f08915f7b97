// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package given

import "testing"

func init() { BuildsGraphs() }

func TestBuilders(t *testing.T) {
	const here = "github.com/euryale-dev/euryale/internal/given"
	for name, want := range map[string]bool{here + ".init.0": true, here + ".(*x).f": true, here + "/internal/y.f": true, here + "/other.f": false, "main.main": false, "": false} {
		if got := IsBuilder(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}
